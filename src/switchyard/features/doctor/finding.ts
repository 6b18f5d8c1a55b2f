/** A finding about a project or a machine. */
export interface Finding {
  /** `error`: something does not work; `warning`: something may surprise; `note`: good to know. */
  readonly level: 'error' | 'warning' | 'note';
  /** A sentence. */
  readonly what: string;
  /** What to do about it, as a sentence. */
  readonly next: string;
}
