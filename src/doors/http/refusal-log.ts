import type { Logger } from '../../shared/log.ts';

/** Within this time, repeated refusals for the same reason are only counted, in milliseconds. */
const QUIET_MS = 10_000;

/** Logs refused requests with the reason, rate-limited so that a flood does not fill the log. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #told = new Map<string, { readonly at: number; unsaid: number }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `why` is one of our own phrases; `path` is undefined if it is untrusted. */
  add(status: number, why: string, path: string | undefined): void {
    const kind = `${status} ${why}`;
    const last = this.#told.get(kind);
    const now = performance.now();
    if (last !== undefined && now - last.at < QUIET_MS) {
      last.unsaid++;
      return;
    }
    const more = last?.unsaid;
    this.#log.warn('refused', { status, why, path, ...(more ? { unsaidBefore: more } : {}) });
    this.#told.set(kind, { at: now, unsaid: 0 });
  }
}
