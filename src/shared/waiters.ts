import { withTimeout, type TimeoutOptions } from './with-timeout.ts';

/** Those that wait for something to happen. */
export class Waiters {
  #waiting: (() => void)[] = [];

  /** Whether nobody has waited since it happened last. */
  get none(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves when it happens next, or after so many milliseconds. Default: without limit. */
  wait(ms = Infinity, options?: TimeoutOptions): Promise<void> {
    const happened = new Promise<void>((resolve) => this.#waiting.push(resolve));
    return withTimeout(happened, ms, () => undefined, options);
  }

  /** It has happened. */
  tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
