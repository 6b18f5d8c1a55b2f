/**
 * A description as one line of at most `maxChars` UTF-16 code units, the `…` of a cut text included.
 * A text that fits stays whole. Otherwise it ends after its last sentence, if that keeps more than half the
 * limit; else before the last space, if that keeps more than 80 %; else as far as it goes. Never inside a
 * grapheme: an emoji or an accented letter is there or not.
 */
export function summarise(text: string, maxChars: number): string {
  const limit = Math.floor(maxChars);
  if (!(limit > 0)) return '';
  // A description may be megabytes of blanks. What is beyond the window cannot matter to an honest text.
  const window = Math.max(65_536, limit * 4);
  const line = oneLine(text.length > window ? text.slice(0, window) : text);
  if (line.length <= limit && text.length <= window) return line;
  let end = cutAt(line, limit);
  // No blank before the ellipsis. (A blank may belong to the sign before it, in Arabic numbering for one.)
  while (end > 0 && line[end - 1] === ' ') end = graphemeStart(line, end - 1);
  return `${line.slice(0, end)}…`;
}

const ELLIPSIS_LENGTH = 1;

/** Where the text ends when it must be at most `limit` long with the ellipsis. */
function cutAt(line: string, limit: number): number {
  const room = Math.min(limit - ELLIPSIS_LENGTH, line.length);
  const sentence = lastSentenceEnd(line, room);
  if (sentence > limit / 2) return graphemeStart(line, sentence);
  const space = line.lastIndexOf(' ', room);
  if (space > limit * 0.8) return graphemeStart(line, space);
  return graphemeStart(line, room);
}

/** The index after the last sentence that ends at or before `room`; 0 when there is none. */
function lastSentenceEnd(line: string, room: number): number {
  let end = 0;
  for (const match of line.slice(0, room + 1).matchAll(SENTENCE_END)) {
    const after = match.index + match[0].length;
    if (after <= room) end = after;
  }
  return end;
}

// A full stop ends a sentence when a blank follows, closing quotes and brackets between them; the one in "e.g."
// or "a.m." does not. Full-width stops need no blank.
const SENTENCE_END =
  /(?<!\.[a-z])[.!?]{1,16}["'\u201d\u2019)\]]{0,16}(?= )|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09]*/g;

/** The start of the grapheme that contains `index`: `index` itself at a boundary. */
function graphemeStart(line: string, index: number): number {
  if (index <= 0 || index >= line.length) return Math.max(0, index);
  // Between two ASCII characters there is always a boundary (CR LF apart, which a line has not).
  if (line.charCodeAt(index - 1) < 0x80 && line.charCodeAt(index) < 0x80) return index;
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(line).containing(index)?.index ?? 0;
}

// Made when first needed: loading its data costs more than a thousand summaries of plain English.
let graphemes: Intl.Segmenter | undefined;

/**
 * Text of a stranger as one clean line. A summary is prose that we write for a model and that people read in
 * their host, so what cannot be seen is removed instead of escaped: an escape of hidden text is still readable
 * for the model, and eats the little room there is.
 */
function oneLine(text: string): string {
  if (PLAIN.test(text)) return text.replace(/ {2,}/g, ' ').trim();
  return (
    text
      // First, so that removing something between two halves cannot make a new character.
      .replace(/\p{Surrogate}/gu, '\ufffd')
      .replace(TERMINAL_SEQUENCE, '')
      // Controls that are no blank, bidirectional overrides, tags, fillers, selectors: all that shows nothing by itself.
      // Kept: the joiners and the emoji selectors, without which emoji and several scripts fall apart.
      .replace(
        /(?![\t-\r\u0085]|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/gu,
        '',
      )
      .replace(/[\s\u0085]+/g, ' ')
      .trim()
  );
}

const PLAIN = /^[\x20-\x7e]*$/;
// Colours, cursor moves and links: the sequence goes whole, the text between two of them stays.
// eslint-disable-next-line no-control-regex
const TERMINAL_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
