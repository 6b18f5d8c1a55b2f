import { estimateTokens } from '../../shared/tokens.ts';

/** A text, or as much of its beginning as fits into `maxTokens`, with a note that it was cut. */
export function withinTokens(text: string, maxTokens: number): string {
  // A megabyte is more tokens than any limit.
  const all = estimateTokens(text);
  if (all <= maxTokens) return text;
  let shortest = 0;
  let longest = text.length;
  while (longest - shortest > STEP) {
    const middle = Math.floor((shortest + longest) / 2);
    if (estimateTokens(text.slice(0, middle)) <= maxTokens) shortest = middle;
    else longest = middle;
  }
  const note = `(Cut here: ${text.length - shortest} of ${text.length} characters are left out. Return less, such as a part or a count.)`;
  return `${wholeCharacters(text.slice(0, shortest))}…\n${note}`;
}

/** How precisely the cut is found, in UTF-16 code units. */
const STEP = 16;

/** Removes half a surrogate pair from the end. */
function wholeCharacters(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '');
}
