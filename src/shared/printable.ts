// C0 and C1 controls, DEL, bidirectional overrides and the invisible tag block: what can move a cursor,
// recolour a terminal or hide text from the person reading it.

const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;

/**
 * Text from outside made safe to print: every control character becomes a visible escape. Tabs and newlines stay.
 * Nothing is left out, so use it for text a user has to judge: commands, paths, names.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (match) => {
    const code = match.codePointAt(0) ?? 0;
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** The same for a place that is one line: newlines and tabs are escaped too. */
export function printableLine(text: string): string {
  return oneLine(printable(text));
}

/**
 * The same without invisible characters, for text a user approves. Emoji and some scripts need such
 * characters, so it is not for everything.
 */
export function revealedLine(text: string): string {
  return printableLine(text).replace(
    INVISIBLE,
    (match) => `\\u{${(match.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

// What takes no room: format characters (zero width, joiners, byte order mark), variation selectors, tags, fillers of
// Hangul and Khmer, a braille pattern without dots, and separators that look like a space or break the line.
const INVISIBLE =
  /[\p{Cf}\p{Co}\u115f\u1160\u180e\u2028\u2029\u2800\u3164\uffa0]|[\u{e0000}-\u{e0fff}]|\p{Variation_Selector}|\u034f|\u17b4|\u17b5|(?! )\p{Zs}/gu;

/** What a server or a service wrote, safe to print and without the codes that colour a terminal. */
export function plain(text: string): string {
  return printable(withoutAnsi(text));
}

/** The same for a place that is one line. */
export function plainLine(text: string): string {
  return oneLine(plain(text));
}

/** Text from a server as a part of our own sentence: `"on one line, in quotes"`, cut after this many characters. */
export function quoted(text: string, longest = 500): string {
  const line = plain(text).replace(/\s+/g, ' ').trim().replaceAll('"', "'");
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
