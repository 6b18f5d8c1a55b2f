import { setTimeout as sleep } from 'node:timers/promises';
import type { SwitchboardError } from '../../shared/errors.ts';

export interface RetryOptions {
  readonly signal: AbortSignal;
  /** Told before each wait, with the reason in a few words and the wait in milliseconds. */
  readonly onRetry?: ((reason: string, waitMs: number) => void) | undefined;
  readonly limits?: RetryLimits | undefined;
}

/** How often a model is asked, and how long is waited in between. */
export interface RetryLimits {
  /** How often it is asked at most. */
  readonly tries: number;
  /** The wait before the second try, in milliseconds; for each further one it is doubled. */
  readonly firstMs: number;
  /** The longest wait, also where the model asks for a longer one, in milliseconds. */
  readonly longestMs: number;
}

const RETRY_LIMITS: RetryLimits = { tries: 4, firstMs: 500, longestMs: 60_000 };

/** Does something again as long as it fails for a passing reason. Rejects with the reason of `signal` when that aborts. */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, onRetry, limits = RETRY_LIMITS } = options;
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (failure) {
      signal.throwIfAborted();
      if (!(failure instanceof TransientFailure)) throw failure;
      if (tries >= limits.tries) throw failure.error;
      const waitMs = waitBefore(tries, failure.afterMs, limits);
      onRetry?.(failure.reason, waitMs);
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** A failure that may not happen the next time. */
export class TransientFailure extends Error {
  /** In a few words. */
  readonly reason: string;
  /** The error if it does not pass. */
  readonly error: SwitchboardError;
  /** How long the other side wants to be left alone, in milliseconds. */
  readonly afterMs: number | undefined;

  constructor(reason: string, error: SwitchboardError, afterMs?: number) {
    super(reason, { cause: error });
    this.name = 'Passing';
    this.reason = reason;
    this.error = error;
    this.afterMs = afterMs;
  }
}

function waitBefore(tries: number, afterMs: number | undefined, limits: RetryLimits): number {
  if (afterMs !== undefined) return Math.min(afterMs, limits.longestMs);
  const whole = Math.min(limits.firstMs * 2 ** (tries - 1), limits.longestMs);
  // Many that were turned away together must not come back together.
  return Math.round(whole * (0.5 + Math.random() / 2));
}
