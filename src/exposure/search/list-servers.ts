import type { CatalogEntry, Source } from '../../gateway/index.ts';
import { messageOf } from '../../shared/errors.ts';
import { knownTools } from './searched.ts';

/** How long to wait before asking a failed server again, in milliseconds. */
const ASK_AGAIN_MS = 60_000;
/** How long a search waits for unknown servers if other servers are known, in milliseconds. */
const WAIT_MS = 3000;

interface Attempt {
  readonly since: number;
  readonly done: Promise<void>;
  problem: string | undefined;
  ended: boolean;
}

/** Why some servers could not be searched, one line each. */
export type Unlisted = readonly { readonly server: string; readonly reason: string }[];

/** Lists servers that have never been listed, whose tools a search could not find otherwise. */
export class ServerLister {
  readonly #attempts = new WeakMap<Source, Attempt>();
  readonly #firstListMs: () => number;

  constructor(firstListMs: () => number) {
    this.#firstListMs = firstListMs;
  }

  /** Starts the servers of which nothing is known, waits for them a while, and returns those that are still unknown. */
  async list(entries: readonly CatalogEntry[]): Promise<Unlisted> {
    const unknown = entries.filter((entry) => knownTools(entry) === undefined);
    if (unknown.length === 0) return [];
    const attempts = unknown.map((entry) => this.#attempt(entry.source));
    const waitMs =
      unknown.length === entries.length ? this.#firstListMs() : Math.min(WAIT_MS, this.#firstListMs());
    const until = Math.max(...attempts.map(({ since }) => since + waitMs));
    await this.#within(until - performance.now(), Promise.all(attempts.map(({ done }) => done)));
    return unknown.flatMap((entry, at) => {
      if (knownTools(entry) !== undefined) return [];
      const attempt = attempts[at] as Attempt;
      if (attempt.ended && attempt.problem === undefined) return [];
      return [{ server: entry.source.name, reason: attempt.problem ?? 'It is still starting.' }];
    });
  }

  #attempt(source: Source): Attempt {
    const known = this.#attempts.get(source);
    if (known !== undefined && !(known.ended && performance.now() - known.since > ASK_AGAIN_MS)) return known;
    const attempt: Attempt = {
      since: performance.now(),
      problem: undefined,
      ended: false,
      done: source.list('tools').then(
        () => void (attempt.ended = true),
        (error: unknown) => {
          attempt.problem = messageOf(error);
          attempt.ended = true;
        },
      ),
    };
    this.#attempts.set(source, attempt);
    return attempt;
  }

  async #within(ms: number, work: Promise<unknown>): Promise<void> {
    if (ms <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      timer.unref();
    });
    await Promise.race([work, timeout]);
    clearTimeout(timer);
  }
}
