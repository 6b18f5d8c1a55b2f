/** A stretch of a text, and what comes in its place. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly with: string;
}

/** The text with all of them done at once. They do not overlap; where two are at the same place, the first comes first. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let result = '';
  let at = 0;
  for (const splice of splices.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(at, splice.start) + splice.with;
    at = splice.end;
  }
  return result + text.slice(at);
}
