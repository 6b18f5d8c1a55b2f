import type { Logger } from '../../shared/log.ts';

/** Who is turned away for the same reason again within so many milliseconds is only counted. */
const QUIET_MS = 10_000;

/** Says in the log that somebody was turned away, and why; seldom enough that a flood of them does not fill it. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #told = new Map<string, { readonly at: number; unsaid: number }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `why` is one of our own phrases; `path` is undefined where a stranger chose it. */
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
