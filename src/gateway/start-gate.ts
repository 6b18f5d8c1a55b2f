/** How long one holds its place that hung the last time, in milliseconds. */
const SLOW_HOLDS_MS = 100;

/**
 * Lets only some of many servers start at the same moment, so that the first of them are there soon. One that hangs
 * gives its place up after a while: it must not keep the others waiting.
 */
export class StartGate {
  readonly #holdsMs: number;
  #free: number;
  /** Those that did not come up in their time when they were last started. */
  readonly #slow = new Set<string>();
  readonly #waiting: (() => void)[] = [];

  /** `atOnce` may start at one time, and each holds its place for so many milliseconds at most. */
  constructor({ atOnce = 8, holdsMs = 1000 } = {}) {
    this.#free = atOnce;
    this.#holdsMs = holdsMs;
  }

  /** `name` is what is started, so that one that hangs every time does not keep others waiting every time. */
  async enter<T>(name: string, start: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const leave = once(() => this.#leave());
    const turn = { slow: false };
    const patience = this.#slow.has(name) ? Math.min(SLOW_HOLDS_MS, this.#holdsMs) : this.#holdsMs;
    const timer = setTimeout(() => {
      turn.slow = true;
      this.#slow.add(name);
      leave();
    }, patience);
    try {
      return await start();
    } finally {
      clearTimeout(timer);
      if (!turn.slow) this.#slow.delete(name);
      leave();
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}
