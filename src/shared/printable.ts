// What can move the cursor, recolour a terminal or hide text from its reader: C0 and C1 controls, DEL, and invisible
// characters (zero width, joiners, bidirectional controls, tags, variation selectors, fillers).
const UNSAFE =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ufff9-\\ufffb\\p{Default_Ignorable_Code_Point}]';

// Joiners and variation selectors that affect how emoji and some scripts are drawn: one after a letter or a picture,
// never after another one.
const DRAWN = '[^\\u0000-\\u007f\\p{Default_Ignorable_Code_Point}]';
const SHAPING = [
  `(?<=${DRAWN}\\ufe0f?)[\\u200c\\u200d](?=${DRAWN})`,
  `(?<=${DRAWN})[\\ufe0e\\ufe0f]`,
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
].join('|');

/** Compiled on first use: expanding its Unicode properties is the slowest part of loading this file. */
let shapingOrUnsafe: RegExp | undefined;
const invisible = (): RegExp => (shapingOrUnsafe ??= new RegExp(`(${SHAPING})|${UNSAFE}`, 'gu'));
// Most texts need no closer look.
const PLAIN = /^[\n\t -~]*$/;

/**
 * Makes text from outside safe to print: every control character and every invisible one becomes a visible escape. Tabs
 * and newlines stay. Nothing is removed, so use it for text that a user has to judge: commands, paths, names.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(invisible(), (match, shaping?: string) => shaping ?? visible(match));
}

/**
 * Each invisible character in a text, and whether it affects how its neighbours are drawn, in which case it hides
 * nothing.
 */
export function* undrawn(text: string) {
  if (PLAIN.test(text)) return;
  for (const { 0: char, 1: shaping, index: at } of text.matchAll(invisible()))
    yield { char, at, shapes: shaping !== undefined };
}

function visible(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** The same for a single line: newlines and tabs are escaped, too. */
export function printableLine(text: string): string {
  return oneLine(printable(text));
}

/**
 * The same for text that a user approves: also escapes joiners and variation selectors, and anything that looks like a
 * space or like nothing. Emoji and some scripts need such characters, so it is not suitable for all text.
 */
export function revealedLine(text: string): string {
  return printableLine(text).replace(
    /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\u2800]|(?! )\p{Zs}/gu,
    visible,
  );
}

/** Text from a server or a service, safe to print and without terminal colours. */
export function plain(text: string): string {
  return printable(withoutAnsi(text));
}

/** The same for a single line. */
export function plainLine(text: string): string {
  return oneLine(plain(text));
}

/** Text from a server as part of our own sentence: `"on one line, in quotes"`, cut after this many characters. */
export function quoted(text: string, longest = 500): string {
  // Much more than is shown, because escapes and white space are removed; but not all of it, because it may be
  // megabytes.
  const line = plain(text.slice(0, 64 * longest))
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll('"', "'");
  return `"${line.length > longest ? `${line.slice(0, longest)}…` : line}"`;
}

// ESC [ … letter (colours, cursor), ESC ] … BEL (titles, links, clipboard) and its kin, ESC ( B (character sets), ESC 7
// and the like. The lengths are bounded: a sequence that does not end is no sequence, and stays visible.
const ANSI =
  // eslint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c]{0,2048}(?:\u0007|\u001b\\|\u009c)|\u001b[()*+][0-9A-Za-z]|\u001b[78=>]/g;

function withoutAnsi(text: string): string {
  return text.includes('\u001b') || text.includes('\u009b') ? text.replace(ANSI, '') : text;
}

function oneLine(text: string): string {
  return text.replace(/[\n\t]/g, (char) => (char === '\n' ? '\\n' : '\\t'));
}
