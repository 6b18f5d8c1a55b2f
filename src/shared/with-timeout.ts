export interface TimeoutOptions {
  /** Whether waiting keeps the program alive. Default true. */
  readonly ref?: boolean;
}

/**
 * Waits for a promise for at most this many milliseconds; after that, the result is that of `late`, which may also
 * throw. The promise itself continues.
 */
export async function withTimeout<T, L>(
  promise: Promise<T>,
  ms: number,
  late: () => L,
  { ref = true }: TimeoutOptions = {},
): Promise<T | L> {
  // A Node timer would fire immediately.
  if (ms === Infinity) return promise;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    if (!ref) timer.unref();
  });
  try {
    return await Promise.race([promise, timeout.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
