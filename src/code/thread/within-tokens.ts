import { estimateTokens } from '../../shared/tokens.ts';

/** A text, or as much of its beginning as takes so many tokens, with a note that says so. */
export function withinTokens(text: string, maxTokens: number): string {
  // A megabyte of tokens is beyond any limit.
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

/** How exact the place of the cut is, in UTF-16 units. */
const STEP = 16;

/** Without half a character at its end. */
function wholeCharacters(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '');
}
