/** The most lines, and characters in total, that are kept for a listener who comes later. */
const KEPT = 200;
const KEPT_CHARS = 256 * 1024;

/** The last lines of the log, and a listener for further ones. */
export class LogTap {
  /** Default: no listener. */
  listener: ((line: string, at: number) => void) | undefined;
  readonly #kept: KeptLine[] = [];
  #chars = 0;

  /** The last lines, oldest first. */
  get lines(): readonly KeptLine[] {
    return this.#kept;
  }

  /** Takes a line when it is logged. */
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
