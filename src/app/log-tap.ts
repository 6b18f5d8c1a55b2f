/** Lines that are kept for somebody who listens later, at most, and their characters in all. */
const KEPT = 200;
const KEPT_CHARS = 256 * 1024;

/** The last lines of the log, and where somebody may listen to further ones. */
export class LogTap {
  /** Default: nobody listens. */
  listener: ((line: string, at: number) => void) | undefined;
  readonly #kept: KeptLine[] = [];
  #chars = 0;

  /** The last lines, the oldest first. */
  get lines(): readonly KeptLine[] {
    return this.#kept;
  }

  /** Takes a line as it is logged. */
  add(line: string): void {
    const at = Date.now();
    this.#kept.push({ line, at });
    this.#chars += line.length;
    while (this.#kept.length > KEPT || (this.#chars > KEPT_CHARS && this.#kept.length > 1))
      this.#chars -= this.#kept.shift()?.line.length ?? 0;
    this.listener?.(line, at);
  }
}

export interface KeptLine {
  readonly line: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}
