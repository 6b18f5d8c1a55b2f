import { dropOldest } from './drop-oldest.ts';

/** The oldest names beyond this are forgotten. */
const MAX_NAMES = 50_000;

/**
 * The owner of each name that a client has seen. Hosts and models keep names for a long time: a name of one server's
 * tool must never come to mean another server's, in whatever order they start or stop.
 */
export class NameReservations {
  readonly #owners = new Map<string, string>();

  /** Whether a source may use a name: it is free, or its own. */
  allows(name: string, owner: string): boolean {
    const known = this.#owners.get(name);
    return known === undefined || known === owner;
  }

  /** Clients have seen these names, each with the source it belongs to. */
  reserve(names: Iterable<readonly [name: string, owner: string]>): void {
    for (const [name, owner] of names) if (!this.#owners.has(name)) this.#owners.set(name, owner);
    dropOldest(this.#owners, MAX_NAMES);
  }
}
