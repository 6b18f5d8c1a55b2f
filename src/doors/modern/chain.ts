/** One place in a chain. */
export interface Link<T> {
  readonly value: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * A set whose members come and go with every request. A Map or Set makes its table anew every so many deletions, and a
 * table that has grown old keeps alive what it once held, until all memory is searched: that cost a call more than
 * everything else together.
 */
export class Chain<T> {
  #newest: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(value: T): Link<T> {
    const link: Link<T> = { value, before: this.#newest, after: undefined };
    if (this.#newest) this.#newest.after = link;
    this.#newest = link;
    this.#size++;
    return link;
  }

  /** Takes a link out; returns false where it is out already. */
  remove(link: Link<T>): boolean {
    const { before, after } = link;
    if (after === undefined && this.#newest !== link) return false;
    if (after) after.before = before;
    else this.#newest = before;
    if (before) before.after = after;
    // It may outlive its neighbours in memory, and must not keep them.
    link.before = link.after = undefined;
    this.#size--;
    return true;
  }

  /** The newest member that fits. */
  find(fits: (value: T) => boolean): Link<T> | undefined {
    for (let link = this.#newest; link; link = link.before) if (fits(link.value)) return link;
    return undefined;
  }

  /** All members, the newest first, as they are now. */
  links(): Link<T>[] {
    const all: Link<T>[] = [];
    for (let link = this.#newest; link; link = link.before) all.push(link);
    return all;
  }
}
