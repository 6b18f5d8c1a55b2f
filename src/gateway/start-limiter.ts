export interface StartLimiterOptions {
  /** How many may start at one time. */
  readonly concurrency: number;
  /** How long one that does not come up keeps its place, in milliseconds. Default 10 000. */
  readonly slotMs?: number;
}

export interface LimitedStart<T> {
  /** What is started, so that one that hangs every time does not keep others waiting every time. */
  readonly name: string;
  /** Whether somebody waits for it now; those go first. Default: nobody does. */
  readonly urgent?: () => boolean;
  /** Starts it. `leave` gives its place to the next one before it is up: it only waits for something else. */
  readonly run: (release: () => void) => Promise<T>;
}

/** How long one keeps its place that hung the last time, in milliseconds. */
const HUNG_SLOT_MS = 100;

/**
 * Lets only some of many servers start at the same moment, so that each has a processor to itself. One that hangs gives
 * its place up after a while: it must not keep the others waiting.
 */
export class StartLimiter {
  readonly #slotMs: number;
  #free: number;
  /** Those that did not come up in their time when they were last started. */
  readonly #hung = new Set<string>();
  readonly #waiting: { readonly urgent: () => boolean; readonly enter: () => void }[] = [];

  constructor({ concurrency, slotMs = 10_000 }: StartLimiterOptions) {
    this.#free = concurrency;
    this.#slotMs = slotMs;
  }

  async run<T>({ name, urgent = () => false, run }: LimitedStart<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((enter) => this.#waiting.push({ urgent, enter }));
    let left = false;
    const release = (): void => {
      if (left) return;
      left = true;
      this.#next();
    };
    const timeoutMs = this.#hung.has(name) ? Math.min(HUNG_SLOT_MS, this.#slotMs) : this.#slotMs;
    const timer = setTimeout(() => {
      this.#hung.add(name);
      release();
    }, timeoutMs);
    try {
      const started = await run(release);
      this.#hung.delete(name);
      return started;
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  #next(): void {
    const first = this.#waiting.findIndex(({ urgent }) => urgent());
    const [next] = this.#waiting.splice(Math.max(first, 0), 1);
    if (next) next.enter();
    else this.#free++;
  }
}
