import { withTimeout, type TimeoutOptions } from './with-timeout.ts';

/** Everybody who waits for an event. */
export class Waiters {
  #waiting: (() => void)[] = [];

  /** Whether nobody has started to wait since the event last happened. */
  get none(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves when the event happens next, or after this many milliseconds. Default: no limit. */
  wait(ms = Infinity, options?: TimeoutOptions): Promise<void> {
    const happened = new Promise<void>((resolve) => this.#waiting.push(resolve));
    return withTimeout(happened, ms, () => undefined, options);
  }

  /** The event has happened. */
  tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
