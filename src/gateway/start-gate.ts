/** Servers started for a list at one time, and how long each holds its place at most, in milliseconds. */
const AT_ONCE = 8;
const HOLDS = 1000;

/**
 * Lets only some of many servers start at the same moment, so that the first of them are there soon. One that hangs
 * gives its place up after a while: it must not keep the others waiting.
 */
export class StartGate {
  #free = AT_ONCE;
  readonly #waiting: (() => void)[] = [];

  async enter<T>(start: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const leave = once(() => this.#leave());
    const timer = setTimeout(leave, HOLDS);
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
