/**
 * The pending requests by id. Ids usually count up and most requests are answered soon, so they are in a ring of slots,
 * found with a mask. An entry that is still pending when another one needs its slot moves to a map. (A map alone would
 * also work, but under steady traffic its outgrown tables keep answered calls alive, and garbage collection took a
 * quarter of the gateway's time.)
 */
export class PendingRequests<T> {
  readonly #slots = new Array<T | undefined>(SLOTS).fill(undefined);
  readonly #ids = new Array<number>(SLOTS).fill(0);
  readonly #overflow = new Map<number, T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Ids are positive integers, and each is pending only once. */
  add(id: number, entry: T): void {
    const index = id & MASK;
    const before = this.#ids[index]!;
    if (before !== 0) this.#overflow.set(before, this.#slots[index]!);
    this.#slots[index] = entry;
    this.#ids[index] = id;
    this.#size++;
  }

  get(id: number): T | undefined {
    const index = id & MASK;
    if (id > 0 && this.#ids[index] === id) return this.#slots[index];
    return this.#overflow.size === 0 ? undefined : this.#overflow.get(id);
  }

  /** Removes and returns an entry; undefined if the id is not pending. */
  take(id: number): T | undefined {
    const entry = this.get(id);
    if (entry === undefined) return undefined;
    const index = id & MASK;
    if (this.#ids[index] === id) {
      this.#slots[index] = undefined;
      this.#ids[index] = 0;
    } else this.#overflow.delete(id);
    this.#size--;
    return entry;
  }

  all(): T[] {
    return [...this.#overflow.values(), ...this.#slots.filter((entry) => entry !== undefined)];
  }

  takeAll(): T[] {
    const all = this.all();
    this.#slots.fill(undefined);
    this.#ids.fill(0);
    this.#overflow.clear();
    this.#size = 0;
    return all;
  }
}

const SLOTS = 256;
const MASK = SLOTS - 1;
