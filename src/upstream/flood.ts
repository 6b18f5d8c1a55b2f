/** A server that sends this much non-message data within this time counts as broken. */
const FLOOD_BYTES = 10 * 1024 * 1024;
const FLOOD_WINDOW = 10_000;

/** Counts what a server sends that is not a message. */
export class Flood {
  #windowStart = 0;
  #windowBytes = 0;

  /** Returns whether the limit is exceeded. */
  add(bytes: number, now = performance.now()): boolean {
    if (now - this.#windowStart > FLOOD_WINDOW) {
      this.#windowStart = now;
      this.#windowBytes = 0;
    }
    this.#windowBytes += bytes;
    return this.#windowBytes > FLOOD_BYTES;
  }
}

/** The minimum that a line counts for, in bytes: reading a short one costs no less. */
export const LEAST_LINE = 50;
