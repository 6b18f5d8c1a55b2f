import type { KeptKind } from '../protocol/index.ts';

/** A list that still lacks servers is given when none has come in for so long, in milliseconds. */
const QUIET = 500;
/** And in any case after so long. */
const MOST = 10_000;
/** How often it is looked at again at least, in milliseconds: what is waited for may begin later. */
const LOOK_AGAIN = 1000;
/** The same where the list is not empty without them. */
const MOST_WITH_SOME = 2000;

/** A list on its way, and since when, on the performance clock. */
export interface Awaited {
  readonly done: Promise<void>;
  readonly since: number;
  /** The same without the time for which its server was not allowed to start yet; Infinity during that. */
  readonly startedAt: () => number;
}

/**
 * Decides how long a list waits for servers that are just starting. Clients ask for their lists at once, and some never
 * ask again, so the first answer should have everything; but one server that hangs must not hold up the others. So it
 * waits as long as servers keep coming in, and then a moment longer.
 */
export class Arrivals {
  /** When the last list of each kind came in; of those that did, only. */
  readonly #last = new Map<KeptKind, number>();
  readonly #waiting = new Set<() => void>();

  /** A server's list came in, or turned out not to. */
  arrived(kind: KeptKind, listed: boolean): void {
    if (listed || this.#last.has(kind)) this.#last.set(kind, performance.now());
    for (const look of this.#waiting) look();
  }

  /**
   * Resolves when all have come in, or when it is not worth waiting for the rest. As long as none of this kind has, that
   * takes longer, and less long where there is something to show without them (`some`).
   */
  settled(kind: KeptKind, awaited: readonly Awaited[], some = false): Promise<void> {
    const since = Math.max(...awaited.map((each) => each.since));
    return this.#wait(awaited, () => {
      const last = this.#last.get(kind);
      if (last === undefined) return since + (some ? MOST_WITH_SOME : MOST);
      return Math.min(Math.max(last, since) + QUIET, since + MOST);
    });
  }

  /** Resolves when what is looked for has come in, or all have without it. */
  async found(awaited: readonly Awaited[], isThere: () => boolean): Promise<void> {
    if (isThere()) return;
    // Who asks for one thing waits for its server, but not for one that hangs. To be kept from starting is not to hang.
    const startedAt = (): number => Math.max(...awaited.map((each) => each.startedAt()));
    await this.#wait(awaited, () => (isThere() ? -Infinity : startedAt() + MOST));
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
