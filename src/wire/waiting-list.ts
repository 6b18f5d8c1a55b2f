/**
 * Who waits for the answer to which of our ids. Ids count up and most are answered soon, so a ring of slots finds them
 * by a mask; whoever still waits when the ring comes round again moves to a map. (A map alone does the same, but under
 * steady traffic its outgrown tables keep answered calls alive, and the garbage collector took a quarter of the
 * gateway's time.)
 */
export class WaitingList<T> {
  readonly #slots = new Array<T | undefined>(SLOTS).fill(undefined);
  readonly #ids = new Array<number>(SLOTS).fill(0);
  readonly #patient = new Map<number, T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Ids are positive integers that count up. */
  add(id: number, waiting: T): void {
    const place = id & MASK;
    const before = this.#ids[place]!;
    if (before !== 0) this.#patient.set(before, this.#slots[place]!);
    this.#slots[place] = waiting;
    this.#ids[place] = id;
    this.#size++;
  }

  get(id: number): T | undefined {
    const place = id & MASK;
    if (id > 0 && this.#ids[place] === id) return this.#slots[place];
    return this.#patient.size === 0 ? undefined : this.#patient.get(id);
  }

  /** Takes an entry out; undefined when nobody waits under that id. */
  take(id: number): T | undefined {
    const waiting = this.get(id);
    if (waiting === undefined) return undefined;
    const place = id & MASK;
    if (this.#ids[place] === id) {
      this.#slots[place] = undefined;
      this.#ids[place] = 0;
    } else this.#patient.delete(id);
    this.#size--;
    return waiting;
  }

  all(): T[] {
    return [...this.#patient.values(), ...this.#slots.filter((waiting) => waiting !== undefined)];
  }

  takeAll(): T[] {
    const all = this.all();
    this.#slots.fill(undefined);
    this.#ids.fill(0);
    this.#patient.clear();
    this.#size = 0;
    return all;
  }
}

const SLOTS = 256;
const MASK = SLOTS - 1;
