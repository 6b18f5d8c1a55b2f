import type { CatalogKind } from '../protocol/index.ts';

/** How long a call of an unknown name waits for lists after their servers were allowed to start, in milliseconds. */
const NAME_WAIT_MS = 10_000;
/** The limit in total, because hosts time out after a minute. */
const NAME_WAIT_LIMIT_MS = 50_000;
/** The limit is computed again at least this often, in milliseconds: a server may start later. */
const RECHECK_MS = 1000;

/** A list that is being fetched. */
export interface PendingList {
  readonly done: Promise<void>;
  /** When the server was allowed to start, on the performance clock; Infinity before that. */
  readonly startedAt: () => number;
}

/**
 * Decides how long a list waits for servers that are still starting. Clients request their lists at once, and some never
 * again, so the first list of each kind waits for all servers, up to a limit. Later lists do not wait: changes after the
 * first are announced.
 */
export class ListWait {
  readonly #firstListMs: () => number;
  /** When the first list of each kind has to be sent; -Infinity once it has been. */
  readonly #until = new Map<CatalogKind, number>();
  readonly #waiting = new Set<() => void>();

  constructor(firstListMs: () => number) {
    this.#firstListMs = firstListMs;
  }

  /** A list was fetched or has failed: checks whether waiting requests can continue. */
  recheck(): void {
    for (const check of this.#waiting) check();
  }

  /** Resolves when a list of this kind can be sent; undefined if it can be sent now. */
  forList(kind: CatalogKind, pending: readonly PendingList[]): Promise<void> | undefined {
    const given = (): void => void this.#until.set(kind, -Infinity);
    const until = this.#until.get(kind) ?? performance.now() + this.#firstListMs();
    if (pending.length === 0 || performance.now() >= until) {
      given();
      return undefined;
    }
    this.#until.set(kind, until);
    return this.#wait(pending, () => this.#until.get(kind) ?? until).then(given);
  }

  /** Resolves when the name is known, or when all lists have arrived without it. */
  async forName(pending: readonly PendingList[], isThere: () => boolean): Promise<void> {
    if (isThere()) return;
    // A call waits for its server, but not for a server that hangs. Waiting for a start slot does not count as hanging.
    const startedAt = (): number => Math.max(...pending.map((each) => each.startedAt()));
    const latest = performance.now() + NAME_WAIT_LIMIT_MS;
    await this.#wait(pending, () => (isThere() ? -Infinity : Math.min(startedAt() + NAME_WAIT_MS, latest)));
  }

  /** Waits for all lists, or until a deadline that is computed again at every recheck. */
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
