export interface RefresherOptions<T> {
  readonly load: () => Promise<T>;
  /** How long a value is used before it is loaded again, in milliseconds. */
  readonly freshMs: number;
}

/** The most loads within this many milliseconds, whatever is asked for. */
const MOST_LOADS = 4;
const LOADS_WITHIN_MS = 20_000;

/**
 * A remote value, loaded once for all callers. While it cannot be loaded again, the old value is used. However often
 * callers ask, it is loaded only a few times a minute.
 */
export class Refresher<T> {
  readonly #options: RefresherOptions<T>;
  #value: { readonly value: T; readonly since: number } | undefined;
  #loading: Promise<T> | undefined;
  #failure: unknown;
  /** When the most recent loads began. */
  #loads: number[] = [];

  constructor(options: RefresherOptions<T>) {
    this.#options = options;
  }

  /** Rejects if there is no value and none can be loaded. */
  async get(): Promise<T> {
    const known = this.#value;
    if (known === undefined) return this.#load();
    if (performance.now() - known.since < this.#options.freshMs) return known.value;
    return this.#load().catch(() => known.value);
  }

  /** A newer value than the given one, or the same if none can be loaded now. */
  async newerThan(value: T): Promise<T> {
    if (this.#value !== undefined && this.#value.value !== value) return this.#value.value;
    return this.#load().catch(() => value);
  }

  #load(): Promise<T> {
    if (this.#loading !== undefined) return this.#loading;
    const now = performance.now();
    this.#loads = this.#loads.filter((at) => now - at < LOADS_WITHIN_MS);
    if (this.#loads.length >= MOST_LOADS)
      return Promise.reject(this.#failure instanceof Error ? this.#failure : new Error('asked too often'));
    this.#loads.push(now);
    this.#loading = this.#options
      .load()
      .then(
        (value) => {
          this.#failure = undefined;
          this.#value = { value, since: performance.now() };
          return value;
        },
        (error: unknown) => {
          this.#failure = error;
          throw error;
        },
      )
      .finally(() => (this.#loading = undefined));
    return this.#loading;
  }
}
