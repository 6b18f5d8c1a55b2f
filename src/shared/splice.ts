/** A range of a text and its replacement. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly with: string;
}

/** The text with all replacements made. They do not overlap; of two at the same position, the first one comes first. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let result = '';
  let at = 0;
  for (const splice of splices.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(at, splice.start) + splice.with;
    at = splice.end;
  }
  return result + text.slice(at);
}
