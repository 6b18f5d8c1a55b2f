import { withLock, type LockOptions } from './lock.ts';
import { realPath } from './real-path.ts';

/** In milliseconds. Many processes on a machine may change the same file. */
const TIMEOUT_MS = 60_000;

/**
 * Runs the work while no other process of ours changes the file, through any path. Reading, changing and writing the
 * content must happen under one lock, or one of two changes is lost. Not reentrant.
 */
export function withFileLock<T>(
  file: string,
  work: () => Promise<T> | T,
  options?: Pick<LockOptions, 'signal'>,
): Promise<T> {
  return withLock(`file ${realPath(file)}`, work, {
    what: `changing ${file}`,
    timeoutMs: TIMEOUT_MS,
    ...options,
  });
}
