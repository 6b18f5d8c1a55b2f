import { randomFillSync } from 'node:crypto';

/** How many numbers are drawn at a time. */
const DRAWN = 1024;

/**
 * Creates unguessable request ids, even for somebody who knows others: positive integers of 31 random bits, which every
 * server can read.
 */
export class RandomIds {
  #numbers = new Uint32Array(DRAWN);
  /** The ids drawn before. */
  #earlier = new Uint32Array(DRAWN);
  #at = DRAWN;

  next(): number {
    if (this.#at === DRAWN) {
      [this.#numbers, this.#earlier] = [this.#earlier, this.#numbers];
      randomFillSync(this.#numbers);
      for (const [at, number] of this.#numbers.entries()) this.#numbers[at] = number >>> 1;
      this.#at = 0;
    }
    return (this.#numbers[this.#at++] ?? 0) || this.next();
  }

  /** Whether this is one of the last thousand ids, or may soon be one. */
  isRecent(id: number): boolean {
    return this.#numbers.includes(id) || this.#earlier.includes(id);
  }
}
