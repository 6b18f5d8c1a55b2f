/**
 * Waits for a promise, but at most this many milliseconds. Returns whether it settled in time; messages that arrived in
 * that time have been handled by then.
 */
export async function waitAtMost(ms: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve, false), ms);
  });
  return Promise.race([done.then(() => true), late]).finally(() => clearTimeout(timer));
}
