import { setTimeout as sleep } from 'node:timers/promises';
import type { SwitchboardError } from '../../shared/errors.ts';

export interface RetryOptions {
  readonly signal: AbortSignal;
  /** Told before each wait, with the reason in a few words and the wait in milliseconds. */
  readonly onRetry?: ((reason: string, waitMs: number) => void) | undefined;
  readonly patience?: Patience | undefined;
}

/** How often a model is asked, and how long is waited in between. */
export interface Patience {
  /** How often it is asked at most. */
  readonly tries: number;
  /** The wait before the second try, in milliseconds; for each further one it is doubled. */
  readonly firstMs: number;
  /** The longest wait, also where the model asks for a longer one, in milliseconds. */
  readonly longestMs: number;
}

const PATIENCE: Patience = { tries: 4, firstMs: 500, longestMs: 60_000 };

/** Does something again as long as it fails for a passing reason. Rejects with the reason of `signal` when that aborts. */
export async function retried<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, onRetry, patience = PATIENCE } = options;
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (failure) {
      signal.throwIfAborted();
      if (!(failure instanceof Passing)) throw failure;
      if (tries >= patience.tries) throw failure.error;
      const waitMs = waitBefore(tries, failure.afterMs, patience);
      onRetry?.(failure.reason, waitMs);
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** A failure that may not happen the next time. */
export class Passing extends Error {
  /** In a few words. */
  readonly reason: string;
  /** What is told where it does not pass. */
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

function waitBefore(tries: number, afterMs: number | undefined, patience: Patience): number {
  if (afterMs !== undefined) return Math.min(afterMs, patience.longestMs);
  const whole = Math.min(patience.firstMs * 2 ** (tries - 1), patience.longestMs);
  // Many that were turned away together must not come back together.
  return Math.round(whole * (0.5 + Math.random() / 2));
}
