// C0 and C1 controls, DEL, bidirectional overrides and the invisible tag block: what can move a cursor,
// recolour a terminal or hide text from the person reading it.

const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;

/** Text from outside made safe to print: every control character becomes a visible escape. Tabs and newlines stay. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (match) => {
    const code = match.codePointAt(0) ?? 0;
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** The same for a place that is one line: newlines and tabs are escaped too. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, (char) => (char === '\n' ? '\\n' : '\\t'));
}
