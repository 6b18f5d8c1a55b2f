import type { Turns } from '../shared/turns.ts';
import type { JsonRange } from './json-bytes.ts';

/** The value of a JSON string. It may be megabytes long, so it is read in pieces, and other work runs in between. */
export async function decodedString(bytes: Buffer, { start, end }: JsonRange, turns: Turns): Promise<string> {
  const last = end - 1;
  let text = '';
  for (let at = start + 1; at < last;) {
    const to = at + PIECE_BYTES < last ? cutBefore(bytes, at, at + PIECE_BYTES) : last;
    // The halves of a surrogate pair that was split join up again here.
    text += JSON.parse(`"${bytes.toString('utf8', at, to)}"`) as string;
    at = to;
    const pause = turns.next();
    if (pause) await pause;
  }
  return text;
}

const PIECE_BYTES = 256 * 1024;
const BACKSLASH = 0x5c;
const U = 0x75;

/** The last position up to `at` that is inside neither a character nor an escape. */
function cutBefore(bytes: Buffer, from: number, at: number): number {
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  // An escape has at most six bytes, and its only backslash is the first one, unless it is an escaped backslash.
  const near = Math.max(from, at - 5);
  const escape = near + bytes.subarray(near, at).lastIndexOf(BACKSLASH);
  if (escape < near) return at;
  let first = escape;
  while (first > from && bytes[first - 1] === BACKSLASH) first--;
  if ((escape - first) % 2 === 1) return at;
  return escape + (bytes[escape + 1] === U ? 6 : 2) > at ? escape : at;
}
