import { SwitchboardError } from '../../shared/errors.ts';

/**
 * Splits a command line into words as a POSIX shell does: spaces, `'…'`, `"…"` and the backslash. Nothing is expanded
 * and there are no operators, so `a; b` are two words and `$HOME` stays as it is.
 */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "'" || char === '"') {
      const quoted = readQuoted(line, at);
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else if (char === '\\') {
      at++;
      if (at === line.length) throw unfinished('It ends with a backslash that escapes nothing.');
      // A backslash at the end of a line joins it with the next one.
      if (line[at] !== '\n') word = (word ?? '') + line.charAt(at);
    } else {
      word = (word ?? '') + char;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** Joins words into one line that a POSIX shell splits in the same way, for people to read and copy. */
export function joinWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

function readQuoted(line: string, start: number): { text: string; end: number } {
  const quote = line.charAt(start);
  let text = '';
  for (let at = start + 1; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === quote) return { text, end: at };
    // Within double quotes, a backslash escapes only special characters.
    if (quote === '"' && char === '\\' && /["\\$`\n]/.test(line[at + 1] ?? '')) {
      at++;
      if (line[at] !== '\n') text += line.charAt(at);
    } else {
      text += char;
    }
  }
  throw unfinished(`The ${quote} at character ${start + 1} is never closed.`);
}

function unfinished(message: string): SwitchboardError {
  return new SwitchboardError('COMMAND_SYNTAX', message, {
    hint: 'Quote it as for a shell: put an argument with spaces in single or double quotes.',
  });
}
