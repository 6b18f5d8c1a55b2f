import { withTimeout } from '../shared/with-timeout.ts';

/**
 * Waits for a promise, but at most this many milliseconds. Returns whether it settled in time; messages that arrived
 * within that time have been handled.
 */
export async function waitAtMost(ms: number, done: Promise<unknown>): Promise<boolean> {
  const settled = done.then(() => true);
  return withTimeout(settled, ms, () => new Promise<boolean>((resolve) => setImmediate(resolve, false)));
}
