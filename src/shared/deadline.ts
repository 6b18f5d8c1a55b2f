/** A moment at which something happens unless it is cleared before. */
export interface Deadline {
  /** Moves it to so many milliseconds from now. */
  extend(ms: number): void;
  clear(): void;
}

/**
 * Many deadlines on one timer. A call sets one and clears it a moment later; a timer of its own for each would cost
 * more than the rest of its way through the program.
 */
export class Deadlines {
  readonly #pending = new Set<Entry>();
  #timer: NodeJS.Timeout | undefined;
  #due = Infinity;

  /** Calls back in `ms` milliseconds, at the earliest. */
  add(ms: number, expired: () => void): Deadline {
    const entry: Entry = {
      at: performance.now() + ms,
      expired,
      extend: (more) => {
        entry.at = performance.now() + more;
        if (this.#pending.has(entry)) this.#aim(entry.at);
      },
      clear: () => {
        this.#pending.delete(entry);
      },
    };
    this.#pending.add(entry);
    this.#aim(entry.at);
    return entry;
  }

  get size(): number {
    return this.#pending.size;
  }

  #aim(at: number): void {
    if (at >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = at;
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(at - performance.now(), 1), MAX_TIMEOUT));
    // What a deadline guards keeps the program alive; the deadline itself must not.
    this.#timer.unref();
  }

  #fire(): void {
    this.#due = Infinity;
    const now = performance.now();
    let next = Infinity;
    for (const entry of [...this.#pending]) {
      if (entry.at > now) next = Math.min(next, entry.at);
      else {
        this.#pending.delete(entry);
        entry.expired();
      }
    }
    if (next < Infinity) this.#aim(next);
  }
}

/** Timers beyond 2³¹ − 1 ms fire at once; firing early is harmless here. */
const MAX_TIMEOUT = 0x7fffffff;

interface Entry extends Deadline {
  at: number;
  readonly expired: () => void;
}
