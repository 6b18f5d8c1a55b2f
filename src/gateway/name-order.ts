import type { NameReservations } from './name-reservations.ts';

/** A source in the order of the configuration, and whether its names are known. */
export interface NamedSource {
  readonly name: string;
  readonly listed: boolean;
}

/**
 * Assigns names in the order of the configuration. A source that comes after an unlisted one gets its names
 * provisionally, because the earlier one may have them too.
 */
export class NameOrder {
  readonly #positions: ReadonlyMap<string, number>;
  readonly #firstUnlisted: number;
  readonly #reservations: NameReservations;

  constructor(sources: readonly NamedSource[], reservations: NameReservations) {
    this.#positions = new Map(sources.map(({ name }, position) => [name, position]));
    const first = sources.findIndex(({ listed }) => !listed);
    this.#firstUnlisted = first === -1 ? Infinity : first;
    this.#reservations = reservations;
  }

  /** Whether a source may use a name, given what clients know. */
  allows(name: string, source: string): boolean {
    const position = this.#position(source);
    return this.#reservations.allows(name, source, (other) => position < this.#position(other));
  }

  /** Records that a source has got a name. Returns whether it is provisional. */
  give(name: string, source: string): boolean {
    const provisional = this.#position(source) > this.#firstUnlisted;
    if (!provisional) this.#reservations.confirm(name);
    return provisional;
  }

  #position(source: string): number {
    return this.#positions.get(source) ?? -1;
  }
}
