/**
 * Cuts a description to one line of at most `maxChars` UTF-16 code units, including the `…` of a cut text. A text that
 * fits is not cut. Otherwise it is cut after its last sentence if that keeps more than half the limit, else before the
 * last space if that keeps more than 80 %, else at the limit. It is never cut inside a grapheme: an emoji or an
 * accented letter is either kept or removed.
 */
export function summarise(text: string, maxChars: number): string {
  const limit = Math.floor(maxChars);
  if (!(limit > 0)) return '';
  // A description may contain megabytes of blanks. In a normal text, anything beyond this window cannot matter.
  const window = Math.max(65_536, limit * 4);
  const line = oneLine(text.length > window ? text.slice(0, window) : text);
  if (line.length <= limit && text.length <= window) return line;
  let end = cutAt(line, limit);
  // No blank before the ellipsis. (A blank may be part of the preceding grapheme, for example in Arabic numbering.)
  while (end > 0 && line[end - 1] === ' ') end = graphemeStart(line, end - 1);
  return `${line.slice(0, end)}…`;
}

const ELLIPSIS_LENGTH = 1;

/** Where to cut the text so that it is at most `limit` long, including the ellipsis. */
function cutAt(line: string, limit: number): number {
  const room = Math.min(limit - ELLIPSIS_LENGTH, line.length);
  const sentence = lastSentenceEnd(line, room);
  if (sentence > limit / 2) return graphemeStart(line, sentence);
  const space = line.lastIndexOf(' ', room);
  if (space > limit * 0.8) return graphemeStart(line, space);
  return graphemeStart(line, room);
}

/** The index after the last sentence that ends at or before `room`; 0 if there is none. */
function lastSentenceEnd(line: string, room: number): number {
  let end = 0;
  for (const match of line.slice(0, room + 1).matchAll(SENTENCE_END)) {
    const after = match.index + match[0].length;
    if (after <= room) end = after;
  }
  return end;
}

// A full stop ends a sentence if a blank follows, possibly after closing quotes and brackets. Those in "e.g." and
// "a.m." do not. Full-width stops need no blank.
const SENTENCE_END =
  /(?<!\.[a-z])[.!?]{1,16}["'\u201d\u2019)\]]{0,16}(?= )|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09]*/g;

/** The start of the grapheme that contains `index`: `index` itself if it is at a boundary. */
function graphemeStart(line: string, index: number): number {
  if (index <= 0 || index >= line.length) return Math.max(0, index);
  // There is always a boundary between two ASCII characters (except in CR LF, which a line does not contain).
  if (line.charCodeAt(index - 1) < 0x80 && line.charCodeAt(index) < 0x80) return index;
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(line).containing(index)?.index ?? 0;
}

// Created on first use: loading its data costs more than a thousand summaries of plain English.
let graphemes: Intl.Segmenter | undefined;

/**
 * Turns untrusted text into one clean line. A summary is prose for a model, which people also see in their host, so
 * invisible characters are removed instead of escaped: the model could still read escaped hidden text, and it would
 * take up scarce room.
 */
function oneLine(text: string): string {
  if (PLAIN.test(text)) return text.replace(/ {2,}/g, ' ').trim();
  return (
    text
      // Done first, so that removing something between two halves cannot create a new character.
      .replace(/\p{Surrogate}/gu, '\ufffd')
      .replace(TERMINAL_SEQUENCE, '')
      // Removes control characters other than blanks, bidirectional overrides, tags, fillers and selectors: everything
      // that is invisible on its own. Keeps joiners and emoji selectors, without which emoji and several scripts fall
      // apart.
      .replace(
        /(?![\t-\r\u0085]|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/gu,
        '',
      )
      .replace(/[\s\u0085]+/g, ' ')
      .trim()
  );
}

const PLAIN = /^[\x20-\x7e]*$/;
// Colours, cursor movements and links: whole sequences are removed, but not the text between two of them.
// eslint-disable-next-line no-control-regex
const TERMINAL_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
