/** Lines that are kept for somebody who listens later. */
const KEPT = 200;

/** The last lines of the log, and where somebody may listen to further ones. */
export class LogTap {
  /** Default: nobody listens. */
  listener: ((line: string, at: number) => void) | undefined;
  readonly #kept: KeptLine[] = [];

  /** The last lines, the oldest first. */
  get lines(): readonly KeptLine[] {
    return this.#kept;
  }

  /** Takes a line as it is logged. */
  add(line: string): void {
    const at = Date.now();
    this.#kept.push({ line, at });
    if (this.#kept.length > KEPT) this.#kept.shift();
    this.listener?.(line, at);
  }
}

export interface KeptLine {
  readonly line: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}
