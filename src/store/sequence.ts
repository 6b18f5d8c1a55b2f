import type { Store } from './store.ts';

/** How many numbers are reserved in the store at a time. */
const BLOCK = 100;
/** How long the last number is remembered, in milliseconds. */
const KEPT_MS = 365 * 24 * 60 * 60 * 1000;
/**
 * The first number per millisecond since 1970, so that a store that has lost the last number does not reuse old ones.
 */
const PER_MS = 100;

/** Numbers that no other gateway with the same store and group returns. Those of one gateway ascend, with gaps. */
export class Sequence {
  readonly #store: Store;
  readonly #key: string;
  #next = 0;
  #end = 0;
  #taking: Promise<void> | undefined;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#key = `sequence:${name}`;
  }

  /** Undefined if the store is away and all reserved numbers are used. */
  async next(): Promise<number | undefined> {
    while (this.#next === this.#end) {
      this.#taking ??= this.#take().finally(() => (this.#taking = undefined));
      try {
        await this.#taking;
      } catch {
        return undefined;
      }
    }
    return this.#next++;
  }

  async #take(): Promise<void> {
    const end = await this.#store.add(this.#key, BLOCK, KEPT_MS, Date.now() * PER_MS);
    this.#end = end;
    this.#next = end - BLOCK;
  }
}
