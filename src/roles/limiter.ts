import type { RoleLimits } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { SharedCallCounts } from '../store/index.ts';

const WINDOW_MS = 60_000;

/** Counts the calls of one principal across all its sessions. */
export interface CallCounter {
  /**
   * Counts a new call. Returns why it may not begin, or a function to call when it ends; asynchronously if several
   * gateways count together.
   */
  begin(limits: RoleLimits): BegunCall | Promise<BegunCall>;
}

export type BegunCall = SwitchboardError | (() => void);

interface Counted {
  /** When the current minute began, on the performance clock. */
  since: number;
  calls: number;
  /** The calls in the previous minute. */
  before: number;
  running: number;
}

/** The calls of all principals. */
export class CallLimiter {
  readonly #counted = new Map<string, Counted>();
  readonly #shared: SharedCallCounts | undefined;

  /** `shared` counts the calls of all gateways that act as one. Default: there is only this one. */
  constructor(shared?: SharedCallCounts) {
    this.#shared = shared;
  }

  counterOf(principal: string): CallCounter {
    return { begin: (limits) => this.#begin(principal, limits) };
  }

  #begin(principal: string, limits: RoleLimits): BegunCall | Promise<BegunCall> {
    const { callsPerMinute = Infinity, concurrentCalls = Infinity } = limits;
    if (callsPerMinute === Infinity && concurrentCalls === Infinity) return nothing;
    const counted = this.#of(principal);
    // What exceeds the limit here exceeds the limit for all gateways together.
    if (counted.running >= concurrentCalls) return tooManyRunning(concurrentCalls);
    const waitMs = waitFor(counted, callsPerMinute);
    if (waitMs > 0) return tooManyPerMinute(callsPerMinute, waitMs);
    counted.calls++;
    counted.running++;
    const end = (): void => {
      counted.running--;
      this.#shared?.set(principal, counted.running);
    };
    return this.#shared === undefined ? end : beginOnAll(this.#shared, { principal, counted, limits, end });
  }

  #of(principal: string): Counted {
    const now = performance.now();
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

  #forgetIdle(now: number): void {
    for (const [principal, { since, running }] of this.#counted)
      if (running === 0 && now - since > 2 * WINDOW_MS) this.#counted.delete(principal);
  }
}

const nothing = (): void => undefined;

/**
 * How long until one more call fits in the last minute. The previous minute counts in proportion to what is left of it.
 */
function waitFor({ since, calls, before }: Counted, most: number): number {
  const passed = performance.now() - since;
  const room = most - 1 - calls;
  if (room < 0) return WINDOW_MS - passed;
  return before <= room ? 0 : WINDOW_MS * (1 - room / before) - passed;
}

interface CountedCall {
  readonly principal: string;
  readonly counted: Counted;
  readonly limits: RoleLimits;
  readonly end: () => void;
}

/**
 * Counts a call on all gateways that has already been counted here. While the store is away, each gateway applies the
 * limits alone.
 */
async function beginOnAll(
  shared: SharedCallCounts,
  { principal, counted, limits, end }: CountedCall,
): Promise<BegunCall> {
  const refusal = await shared.begin(principal, counted.running, limits).catch(() => undefined);
  if (refusal === undefined) return end;
  counted.calls = Math.max(0, counted.calls - 1);
  end();
  return refusal === 'running'
    ? tooManyRunning(limits.concurrentCalls)
    : tooManyPerMinute(limits.callsPerMinute, refusal.waitMs);
}

function tooManyRunning(most = 0): SwitchboardError {
  return limitReached(`${most} calls are running already`, 'Try again when one of them has ended.');
}

function tooManyPerMinute(most = 0, waitMs: number): SwitchboardError {
  return limitReached(
    `${most} calls per minute are allowed`,
    `Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`,
  );
}

function limitReached(why: string, hint: string): SwitchboardError {
  return new SwitchboardError('LIMIT_REACHED', `A limit of your role is reached: ${why}.`, { hint });
}
