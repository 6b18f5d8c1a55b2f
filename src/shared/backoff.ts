export interface BackoffOptions {
  /** Restarts allowed within `window`. Default 10. */
  readonly limit?: number;
  /** In milliseconds. Default 60000. */
  readonly window?: number;
  /** Wait before the first restart, in milliseconds. Default 250. */
  readonly first?: number;
  /** Each further wait is longer by this factor. Default 5: at most five starts in the first minute. */
  readonly factor?: number;
  /** The longest wait before jitter, in milliseconds. Default 30000. */
  readonly longest?: number;
  /**
   * Up to this share is added to each wait, so that many child processes do not restart at the same moment. Default
   * 0.2.
   */
  readonly jitter?: number;
  /** A number in [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}

/** `until` is on the clock of the `now` passed to `next`. */
export type BackoffAdvice =
  { readonly kind: 'wait'; readonly ms: number } | { readonly kind: 'give-up'; readonly until: number };

/**
 * Decides when to restart a crashed child process. Has no timer; `now` is any clock in milliseconds that never goes
 * back.
 */
export interface Backoff {
  /** Call when a restart is needed. With `wait`, the restart counts as done after the wait. */
  next(now: number): BackoffAdvice;
  /**
   * The child has started and works, so waits are short again. Restarts still count, so that a child that dies on every
   * call fails in the end.
   */
  succeeded(now: number): void;
  /** A user asked for another attempt: forgets everything. */
  reset(): void;
}

export function createBackoff({
  limit = 10,
  window = 60_000,
  first = 250,
  factor = 5,
  longest = 30_000,
  jitter = 0.2,
  random = Math.random,
}: BackoffOptions = {}): Backoff {
  let failures = 0;
  let restarts: number[] = [];

  const expire = (now: number): void => {
    restarts = restarts.filter((at) => now - at < window);
  };

  return {
    next(now) {
      expire(now);
      const oldest = restarts[0];
      if (oldest !== undefined && restarts.length >= limit)
        return { kind: 'give-up', until: oldest + window };
      const plain = Math.min(longest, first * factor ** failures);
      const ms = Math.round(plain * (1 + jitter * random()));
      failures += 1;
      restarts.push(now + ms);
      return { kind: 'wait', ms };
    },
    succeeded(now) {
      failures = 0;
      expire(now);
    },
    reset() {
      failures = 0;
      restarts = [];
    },
  };
}
