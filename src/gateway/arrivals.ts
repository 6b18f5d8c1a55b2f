import type { KeptKind } from '../protocol/index.ts';

/** How long a name that is in no list is looked for, in milliseconds, from when its server was allowed to start. */
const LOOK_FOR = 10_000;
/** And at most, for hosts give a call up after a minute. */
const LOOK_AT_MOST = 50_000;
/** How often it is looked at again at least, in milliseconds: what is waited for may begin later. */
const LOOK_AGAIN = 1000;

/** A list on its way. */
export interface Awaited {
  readonly done: Promise<void>;
  /** When the server was allowed to start, on the performance clock; Infinity before that. */
  readonly startedAt: () => number;
}

/**
 * Decides how long a list waits for servers that are still starting. Clients ask for their lists at once, and some never
 * ask again, so the first list of each kind waits for everything, up to a limit. Later lists do not wait: what comes in
 * after the first is announced.
 */
export class Arrivals {
  readonly #firstListMs: () => number;
  /** Until when the first list of each kind waits; -Infinity once one has been given. */
  readonly #until = new Map<KeptKind, number>();
  readonly #waiting = new Set<() => void>();

  constructor(firstListMs: () => number) {
    this.#firstListMs = firstListMs;
  }

  /** A server's list came in, or turned out not to. */
  arrived(): void {
    for (const look of this.#waiting) look();
  }

  /** Resolves when a list of this kind can be given; undefined where that is now. */
  settled(kind: KeptKind, awaited: readonly Awaited[]): Promise<void> | undefined {
    const given = (): void => void this.#until.set(kind, -Infinity);
    const until = this.#until.get(kind) ?? performance.now() + this.#firstListMs();
    if (awaited.length === 0 || performance.now() >= until) {
      given();
      return undefined;
    }
    this.#until.set(kind, until);
    return this.#wait(awaited, () => this.#until.get(kind)!).then(given);
  }

  /** Resolves when what is looked for has come in, or all have without it. */
  async found(awaited: readonly Awaited[], isThere: () => boolean): Promise<void> {
    if (isThere()) return;
    // Who asks for one thing waits for its server, but not for one that hangs. To be kept from starting is not to hang.
    const startedAt = (): number => Math.max(...awaited.map((each) => each.startedAt()));
    const latest = performance.now() + LOOK_AT_MOST;
    await this.#wait(awaited, () => (isThere() ? -Infinity : Math.min(startedAt() + LOOK_FOR, latest)));
  }

  /** Waits until all have come in, or to a moment that is asked for again at every arrival. */
  async #wait(awaited: readonly Awaited[], untilWhen: () => number): Promise<void> {
    if (awaited.length === 0) return;
    let done = false;
    const all = Promise.all(awaited.map((each) => each.done)).then(() => {
      done = true;
    });
    await new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const look = (): void => {
        clearTimeout(timer);
        const now = performance.now();
        const until = untilWhen();
        if (done || now >= until) {
          this.#waiting.delete(look);
          resolve();
        } else timer = setTimeout(look, Math.min(until - now, LOOK_AGAIN));
      };
      this.#waiting.add(look);
      void all.then(look);
      look();
    });
  }
}
