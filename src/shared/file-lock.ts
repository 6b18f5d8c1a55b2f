import { withLock, type LockOptions } from './lock.ts';
import { realPath } from './real-path.ts';

/** A machine may have many processes that change one file. In milliseconds. */
const TIMEOUT_MS = 60_000;

/**
 * Runs the work while no other process of ours changes the file, by whatever path: reading it, changing its content and
 * writing it belong together, or one of two changes is lost. Not reentrant.
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
