import type { Message } from '../../wire/index.ts';

/** Progress beyond this many a second is thinned out: the newest is kept, those before it are not sent. */
const PROGRESS_BURST = 100;
export const PROGRESS_PER_SECOND = 20;

/** Lets progress through up to a rate; beyond it keeps the newest. */
export class ProgressThrottle {
  held: Message | undefined;
  timer: NodeJS.Timeout | undefined;
  lastPassed = -Infinity;
  #allowance = PROGRESS_BURST;
  #lastSeen = 0;

  admits(notification: Message, now: number): boolean {
    if (this.#lastSeen > 0) {
      const earned = ((now - this.#lastSeen) / 1000) * PROGRESS_PER_SECOND;
      this.#allowance = Math.min(PROGRESS_BURST, this.#allowance + earned);
    }
    this.#lastSeen = now;
    const admitted = this.#allowance >= 1;
    this.held = admitted ? undefined : notification;
    if (admitted) this.#allowance -= 1;
    return admitted;
  }
}
