/** How often the named tokens are checked, in milliseconds. */
const CHECK_MS = 1000;

/** Listeners for changes of the named tokens, which are checked regularly while there are any. */
export class TokenWatchers {
  readonly #check: () => void;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(check: () => void) {
    this.#check = check;
  }

  /** Adds a listener; the returned function removes it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(this.#check, CHECK_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
