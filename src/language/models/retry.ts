import { setTimeout as sleep } from 'node:timers/promises';
import type { SwitchboardError } from '../../shared/errors.ts';

export interface RetryOptions {
  readonly signal: AbortSignal;
  /** Called before each wait, with a short reason and the wait in milliseconds. */
  readonly onRetry?: ((reason: string, waitMs: number) => void) | undefined;
  readonly limits?: RetryLimits | undefined;
}

/** How often a model is tried, and the waits in between. */
export interface RetryLimits {
  /** The maximum number of attempts. */
  readonly tries: number;
  /** The wait before the second attempt, in milliseconds; it doubles with each further attempt. */
  readonly firstMs: number;
  /** The longest wait, even if the model requests a longer one, in milliseconds. */
  readonly longestMs: number;
}

const RETRY_LIMITS: RetryLimits = { tries: 4, firstMs: 500, longestMs: 60_000 };

/**
 * Repeats an attempt as long as it fails for a transient reason. Rejects with the reason of `signal` when that aborts.
 */
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

/** A failure that may not occur the next time. */
export class TransientFailure extends Error {
  /** A short reason. */
  readonly reason: string;
  /** The error if it does not go away. */
  readonly error: SwitchboardError;
  /** How long the server wants us to wait, in milliseconds. */
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
  // Clients that were refused together must not return together.
  return Math.round(whole * (0.5 + Math.random() / 2));
}
