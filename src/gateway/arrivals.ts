/** A list that still lacks servers is given when none has come in for so long, in milliseconds. */
const QUIET = 500;
/** And in any case after so long. */
const MOST = 10_000;
/** The same where the list is not empty without them. */
const MOST_WITH_SOME = 2000;

/** A list on its way, and since when, on the performance clock. */
export interface Awaited {
  readonly done: Promise<void>;
  readonly since: number;
}

/**
 * Decides how long a list waits for servers that are just starting. Clients ask for their lists at once, and some never
 * ask again, so the first answer should have everything; but one server that hangs must not hold up the others. So it
 * waits as long as servers keep coming in, and then a moment longer.
 */
export class Arrivals {
  #last = -Infinity;
  #any = false;
  readonly #waiting = new Set<() => void>();

  /** A server came in, or turned out not to. */
  arrived(listed: boolean): void {
    this.#last = performance.now();
    this.#any ||= listed;
    for (const look of this.#waiting) look();
  }

  /**
   * Resolves when all have come in, or when it is not worth waiting for the rest. As long as none has, that takes longer,
   * and less long where there is something to show without them (`some`).
   */
  settled(awaited: readonly Awaited[], some = false): Promise<void> {
    return this.#wait(awaited, (since) =>
      this.#any
        ? Math.min(Math.max(this.#last, since) + QUIET, since + MOST)
        : since + (some ? MOST_WITH_SOME : MOST),
    );
  }

  /** Resolves when what is looked for has come in, or all have without it. */
  async found(awaited: readonly Awaited[], isThere: () => boolean): Promise<void> {
    if (!isThere()) await this.#wait(awaited, (since) => (isThere() ? -Infinity : since + MOST));
  }

  /** Waits until all have come in, or to a moment that is asked for again at every arrival. */
  async #wait(awaited: readonly Awaited[], untilWhen: (since: number) => number): Promise<void> {
    if (awaited.length === 0) return;
    const since = Math.max(...awaited.map((each) => each.since));
    let done = false;
    const all = Promise.all(awaited.map((each) => each.done)).then(() => {
      done = true;
    });
    await new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const look = (): void => {
        clearTimeout(timer);
        const now = performance.now();
        const until = untilWhen(since);
        if (done || now >= until) {
          this.#waiting.delete(look);
          resolve();
        } else timer = setTimeout(look, until - now);
      };
      this.#waiting.add(look);
      void all.then(look);
      look();
    });
  }
}
