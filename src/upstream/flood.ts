/** So much that is no message, within so long, and a server counts as broken. */
const FLOOD_BYTES = 10 * 1024 * 1024;
const FLOOD_WINDOW = 10_000;

/** Counts what a server sends that is no message. */
export class Flood {
  #windowStart = 0;
  #windowBytes = 0;

  /** True when it is a flood. */
  add(bytes: number, now = performance.now()): boolean {
    if (now - this.#windowStart > FLOOD_WINDOW) {
      this.#windowStart = now;
      this.#windowBytes = 0;
    }
    this.#windowBytes += bytes;
    return this.#windowBytes > FLOOD_BYTES;
  }
}

/** What a line counts for at least, in bytes: reading a short one costs no less. */
export const LEAST_LINE = 50;
