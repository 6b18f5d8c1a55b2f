/** Names that are remembered; the oldest are forgotten first. */
const MAX_NAMES = 50_000;

/**
 * Which source each name belongs to that a client has seen. Hosts and models keep names for a long time: one that meant
 * a tool of one server must never come to mean another server's, whichever of them comes, goes or starts late.
 */
export class NameReservations {
  readonly #owners = new Map<string, string>();

  /** Whether a source may use a name: nobody has it, or the source itself. */
  allows(name: string, owner: string): boolean {
    const known = this.#owners.get(name);
    return known === undefined || known === owner;
  }

  /** Clients have seen these names, each with the source it belongs to. */
  reserve(names: Iterable<readonly [name: string, owner: string]>): void {
    for (const [name, owner] of names) if (!this.#owners.has(name)) this.#owners.set(name, owner);
    while (this.#owners.size > MAX_NAMES) this.#owners.delete(this.#owners.keys().next().value!);
  }
}
