export interface StartGateOptions {
  /** How many may start at one time. */
  readonly atOnce: number;
  /** How long one that does not come up keeps its place, in milliseconds. Default 10 000. */
  readonly holdsMs?: number;
}

export interface Start<T> {
  /** What is started, so that one that hangs every time does not keep others waiting every time. */
  readonly name: string;
  /** Whether somebody waits for it now; those go first. Default: nobody does. */
  readonly urgent?: () => boolean;
  /** Starts it. `leave` gives its place to the next one before it is up: it only waits for something else. */
  readonly run: (leave: () => void) => Promise<T>;
}

/** How long one keeps its place that hung the last time, in milliseconds. */
const HUNG_HOLDS_MS = 100;

/**
 * Lets only some of many servers start at the same moment, so that each has a processor to itself. One that hangs gives
 * its place up after a while: it must not keep the others waiting.
 */
export class StartGate {
  readonly #holdsMs: number;
  #free: number;
  /** Those that did not come up in their time when they were last started. */
  readonly #hung = new Set<string>();
  readonly #waiting: { readonly urgent: () => boolean; readonly enter: () => void }[] = [];

  constructor({ atOnce, holdsMs = 10_000 }: StartGateOptions) {
    this.#free = atOnce;
    this.#holdsMs = holdsMs;
  }

  async enter<T>({ name, urgent = () => false, run }: Start<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((enter) => this.#waiting.push({ urgent, enter }));
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      this.#next();
    };
    const patience = this.#hung.has(name) ? Math.min(HUNG_HOLDS_MS, this.#holdsMs) : this.#holdsMs;
    const timer = setTimeout(() => {
      this.#hung.add(name);
      leave();
    }, patience);
    try {
      const started = await run(leave);
      this.#hung.delete(name);
      return started;
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  #next(): void {
    const first = this.#waiting.findIndex(({ urgent }) => urgent());
    const [next] = this.#waiting.splice(Math.max(first, 0), 1);
    if (next) next.enter();
    else this.#free++;
  }
}
