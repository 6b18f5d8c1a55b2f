export interface StartLimiterOptions {
  /** How many may start at the same time. */
  readonly concurrency: number;
  /** How long a start that does not finish keeps its slot, in milliseconds. Default 10 000. */
  readonly slotMs?: number;
}

export interface LimitedStart<T> {
  /** The server's name: a server that hung before keeps its slot only briefly. */
  readonly name: string;
  /** Whether a caller is waiting for it; such starts go first. Default false. */
  readonly urgent?: () => boolean;
  /** Starts it. `release` frees the slot early, for a start that is only waiting. */
  readonly run: (release: () => void) => Promise<T>;
}

/** How long a server that hung the last time keeps its slot, in milliseconds. */
const HUNG_SLOT_MS = 100;

/**
 * Limits how many servers start at the same time, so that each has a CPU to itself. A start that hangs loses its slot
 * after a while and does not block the others.
 */
export class StartLimiter {
  readonly #slotMs: number;
  #free: number;
  /** Servers whose last start took longer than its slot. */
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
