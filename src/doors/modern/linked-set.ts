/** Who can be a member of a chain: it knows its neighbours itself, so that to come and go makes nothing new. */
export interface Linked<T> {
  before: T | undefined;
  after: T | undefined;
}

/**
 * A set whose members come and go with every request. A Map or Set makes its table anew every so many deletions, and a
 * table that has grown old keeps alive what it once held, until all memory is searched: that cost a call more than
 * everything else together. Nobody is a member of two chains, or of one twice.
 */
export class LinkedSet<T extends Linked<T>> {
  #newest: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(member: T): void {
    const newest = this.#newest;
    member.before = newest;
    if (newest) newest.after = member;
    this.#newest = member;
    this.#size++;
  }

  /** Takes a member out; returns false where it is out already. */
  remove(member: T): boolean {
    const { before, after } = member;
    if (after === undefined && this.#newest !== member) return false;
    if (after) after.before = before;
    else this.#newest = before;
    if (before) before.after = after;
    // It may outlive its neighbours in memory, and must not keep them.
    member.before = member.after = undefined;
    this.#size--;
    return true;
  }

  /** The newest member that fits. */
  find(fits: (member: T) => boolean): T | undefined {
    for (let member = this.#newest; member; member = member.before) if (fits(member)) return member;
    return undefined;
  }

  /** All members, the newest first, as they are now. */
  members(): T[] {
    const all: T[] = [];
    for (let member = this.#newest; member; member = member.before) all.push(member);
    return all;
  }
}
