/** Something about a project or a machine that somebody should know. */
export interface Finding {
  /** `error`: something does not work; `warning`: something will surprise; `note`: good to know. */
  readonly level: 'error' | 'warning' | 'note';
  /** A sentence. */
  readonly what: string;
  /** What to do about it, as a sentence. */
  readonly next: string;
}
