import type { RoleLimits } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';

const WINDOW_MS = 60_000;

/** Counts the calls of one principal, whatever sessions they come from. */
export interface CallCounter {
  /**
   * Counts a call that begins. Returns why it may not begin, or what is to be called when it ends.
   */
  begin(limits: RoleLimits): SwitchboardError | (() => void);
}

interface Counted {
  /** When the current minute began, on the performance clock. */
  since: number;
  calls: number;
  /** In the minute before. */
  before: number;
  running: number;
}

/** The calls of all principals. */
export class CallLimiter {
  readonly #counted = new Map<string, Counted>();
  readonly #now: () => number;

  constructor(now = (): number => performance.now()) {
    this.#now = now;
  }

  counterOf(principal: string): CallCounter {
    return { begin: (limits) => this.#begin(principal, limits) };
  }

  #begin(principal: string, limits: RoleLimits): SwitchboardError | (() => void) {
    const { callsPerMinute = Infinity, concurrentCalls = Infinity } = limits;
    if (callsPerMinute === Infinity && concurrentCalls === Infinity) return nothing;
    const counted = this.#of(principal);
    if (counted.running >= concurrentCalls)
      return limitReached(
        `${concurrentCalls} calls are running already`,
        'Try again when one of them has ended.',
      );
    const waitMs = this.#waitMs(counted, callsPerMinute);
    if (waitMs > 0)
      return limitReached(
        `${callsPerMinute} calls per minute are allowed`,
        `Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`,
      );
    counted.calls++;
    counted.running++;
    return () => {
      counted.running--;
    };
  }

  #of(principal: string): Counted {
    const now = this.#now();
    let counted = this.#counted.get(principal);
    if (counted === undefined) {
      this.#forgetIdle(now);
      counted = { since: now, calls: 0, before: 0, running: 0 };
      this.#counted.set(principal, counted);
    }
    const passed = Math.floor((now - counted.since) / WINDOW_MS);
    if (passed > 0) {
      counted.before = passed === 1 ? counted.calls : 0;
      counted.calls = 0;
      counted.since += passed * WINDOW_MS;
    }
    return counted;
  }

  /** How long until one more call fits in the last minute; the minute before counts by the part of it that is left. */
  #waitMs({ since, calls, before }: Counted, most: number): number {
    const passed = this.#now() - since;
    const room = most - 1 - calls;
    if (room < 0) return WINDOW_MS - passed;
    return before <= room ? 0 : WINDOW_MS * (1 - room / before) - passed;
  }

  #forgetIdle(now: number): void {
    for (const [principal, { since, running }] of this.#counted)
      if (running === 0 && now - since > 2 * WINDOW_MS) this.#counted.delete(principal);
  }
}

const nothing = (): void => undefined;

function limitReached(why: string, hint: string): SwitchboardError {
  return new SwitchboardError('LIMIT_REACHED', `A limit of your role is reached: ${why}.`, { hint });
}
