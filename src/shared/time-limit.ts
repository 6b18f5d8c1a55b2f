/** A time limit that pauses while the user is asked. */
export class TimeLimit {
  /** Whether the time has run out. */
  expired = false;
  readonly #over = new AbortController();
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;

  constructor(ms: number) {
    // A longer timer would fire immediately.
    this.#left = Math.min(ms, 2 ** 31 - 1);
    this.#run();
  }

  /** Aborts when the time runs out, or when the limit is closed. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Pauses the time until the work has settled. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#holds++ === 0) {
      clearTimeout(this.#timer);
      this.#left -= performance.now() - this.#since;
    }
    try {
      return await work();
    } finally {
      if (--this.#holds === 0 && !this.signal.aborted) this.#run();
    }
  }

  /** Aborts everything that was started under the time limit. */
  close(): void {
    clearTimeout(this.#timer);
    this.#over.abort();
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => {
      this.expired = true;
      this.#over.abort();
    }, this.#left);
  }
}
