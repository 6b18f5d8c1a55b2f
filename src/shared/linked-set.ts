/** A member contains its own links, so that adding and removing allocate nothing. */
export interface Linked<T> {
  before: T | undefined;
  after: T | undefined;
}

/**
 * A set whose members change with every request. A Map or Set rebuilds its table after some deletions, and a table in
 * the old generation keeps its former entries alive until a full garbage collection, which cost more than the rest of a
 * call. An object must be in only one set, and only once.
 */
export class LinkedSet<T extends Linked<T>> {
  #newest: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get newest(): T | undefined {
    return this.#newest;
  }

  add(member: T): void {
    const newest = this.#newest;
    member.before = newest;
    if (newest) newest.after = member;
    this.#newest = member;
    this.#size++;
  }

  /** Removes a member; returns false if it is not in the set. */
  remove(member: T): boolean {
    const { before, after } = member;
    if (after === undefined && this.#newest !== member) return false;
    if (after) after.before = before;
    else this.#newest = before;
    if (before) before.after = after;
    // It may outlive its neighbours and must not keep them in memory.
    member.before = member.after = undefined;
    this.#size--;
    return true;
  }

  /** The newest member that satisfies the condition. */
  find(fits: (member: T) => boolean): T | undefined {
    for (let member = this.#newest; member; member = member.before) if (fits(member)) return member;
    return undefined;
  }

  /** A snapshot of all members, newest first. */
  members(): T[] {
    const all: T[] = [];
    for (let member = this.#newest; member; member = member.before) all.push(member);
    return all;
  }
}
