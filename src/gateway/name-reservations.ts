import { dropOldest } from './drop-oldest.ts';

/** The oldest names beyond this are forgotten. */
const MAX_NAMES = 50_000;

/** A name, the source it belongs to, and whether another source may still turn out to have priority. */
export type ListedName = readonly [name: string, owner: string, provisional?: boolean];

/**
 * The owner of each name that a client has seen or used. Hosts and models remember names for a long time: the name of
 * one server's tool must never come to mean another server's, in whatever order the servers start or stop.
 */
export class NameReservations {
  /** Maps each name to its owner; undefined if neither of two sources may use it. */
  readonly #owners = new Map<string, string | undefined>();
  readonly #provisional = new Set<string>();

  has(name: string): boolean {
    return this.#owners.has(name);
  }

  /** Whether two sources turned out to have this name after clients had seen it, so that neither may use it. */
  isNobodys(name: string): boolean {
    return this.#owners.has(name) && this.#owners.get(name) === undefined;
  }

  /**
   * Whether a source may use a name because it is free or its own. If the source comes before the owner, and the owner
   * has the name only provisionally, neither may use it from now on.
   */
  allows(name: string, source: string, comesBefore: (owner: string) => boolean = () => false): boolean {
    if (!this.#owners.has(name)) return true;
    const owner = this.#owners.get(name);
    if (owner === source) return true;
    if (owner !== undefined && this.#provisional.has(name) && comesBefore(owner)) {
      this.#owners.set(name, undefined);
      this.#provisional.delete(name);
    }
    return false;
  }

  /** Clients know these names now. */
  reserve(names: Iterable<ListedName>): void {
    for (const [name, owner, provisional = false] of names) {
      if (this.#owners.has(name)) continue;
      this.#owners.set(name, owner);
      if (provisional) this.#provisional.add(name);
      else this.#provisional.delete(name);
    }
    dropOldest(this.#owners, MAX_NAMES);
    dropOldest(this.#provisional, MAX_NAMES);
  }

  /** No source that comes before the owner has this name. */
  confirm(name: string): void {
    this.#provisional.delete(name);
  }
}
