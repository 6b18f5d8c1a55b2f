/**
 * Lets only some of many servers start at the same moment, so that the first of them are there soon. One that hangs
 * gives its place up after a while: it must not keep the others waiting.
 */
export class StartGate {
  readonly #holdsMs: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `atOnce` may start at one time, and each holds its place for so many milliseconds at most. */
  constructor({ atOnce = 8, holdsMs = 1000 } = {}) {
    this.#free = atOnce;
    this.#holdsMs = holdsMs;
  }

  async enter<T>(start: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const leave = once(() => this.#leave());
    const timer = setTimeout(leave, this.#holdsMs);
    try {
      return await start();
    } finally {
      clearTimeout(timer);
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
