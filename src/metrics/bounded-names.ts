/** Stands for all further names. */
const OTHER = 'other';

/**
 * Names as label values. Only the first ones are kept, because every value of a label costs memory here and in
 * Prometheus.
 */
export class BoundedNames {
  readonly #limit: number;
  readonly #known = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.#limit || name.length > LONGEST) return OTHER;
    this.#known.add(name);
    return name;
  }
}

/** The longest name that is used as a label, in characters. */
const LONGEST = 128;
