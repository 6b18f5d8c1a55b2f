import type { CatalogKind } from '../protocol/index.ts';

/** How long a name that is in no list is looked for, in milliseconds, from when its server was allowed to start. */
const NAME_WAIT_MS = 10_000;
/** And at most, for hosts give a call up after a minute. */
const NAME_WAIT_LIMIT_MS = 50_000;
/** How often it is looked at again at least, in milliseconds: what is waited for may begin later. */
const RECHECK_MS = 1000;

/** A list on its way. */
export interface PendingList {
  readonly done: Promise<void>;
  /** When the server was allowed to start, on the performance clock; Infinity before that. */
  readonly startedAt: () => number;
}

/**
 * Decides how long a list waits for servers that are still starting. Clients ask for their lists at once, and some never
 * ask again, so the first list of each kind waits for everything, up to a limit. Later lists do not wait: what comes in
 * after the first is announced.
 */
export class ListWait {
  readonly #firstListMs: () => number;
  /** Until when the first list of each kind waits; -Infinity once one has been given. */
  readonly #until = new Map<CatalogKind, number>();
  readonly #waiting = new Set<() => void>();

  constructor(firstListMs: () => number) {
    this.#firstListMs = firstListMs;
  }

  /** A server's list came in, or turned out not to. */
  recheck(): void {
    for (const check of this.#waiting) check();
  }

  /** Resolves when a list of this kind can be given; undefined where that is now. */
  forList(kind: CatalogKind, pending: readonly PendingList[]): Promise<void> | undefined {
    const given = (): void => void this.#until.set(kind, -Infinity);
    const until = this.#until.get(kind) ?? performance.now() + this.#firstListMs();
    if (pending.length === 0 || performance.now() >= until) {
      given();
      return undefined;
    }
    this.#until.set(kind, until);
    return this.#wait(pending, () => this.#until.get(kind)!).then(given);
  }

  /** Resolves when what is looked for has come in, or all have without it. */
  async forName(pending: readonly PendingList[], isThere: () => boolean): Promise<void> {
    if (isThere()) return;
    // Who asks for one thing waits for its server, but not for one that hangs. To be kept from starting is not to hang.
    const startedAt = (): number => Math.max(...pending.map((each) => each.startedAt()));
    const latest = performance.now() + NAME_WAIT_LIMIT_MS;
    await this.#wait(pending, () => (isThere() ? -Infinity : Math.min(startedAt() + NAME_WAIT_MS, latest)));
  }

  /** Waits until all have come in, or to a moment that is asked for again at every arrival. */
  async #wait(pending: readonly PendingList[], untilWhen: () => number): Promise<void> {
    if (pending.length === 0) return;
    let done = false;
    const all = Promise.all(pending.map((each) => each.done)).then(() => {
      done = true;
    });
    await new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const check = (): void => {
        clearTimeout(timer);
        const now = performance.now();
        const until = untilWhen();
        if (done || now >= until) {
          this.#waiting.delete(check);
          resolve();
        } else timer = setTimeout(check, Math.min(until - now, RECHECK_MS));
      };
      this.#waiting.add(check);
      void all.then(check);
      check();
    });
  }
}
