import { withLock } from '../../../process/index.ts';
import { sha256 } from '../sha256.ts';
import type { Home } from './home.ts';

export interface ProjectLockOptions {
  /** Describes the work to those who wait, for example `up feature/x`. */
  readonly what: string;
  /** Called once if another process holds the lock, with its purpose. */
  readonly onWait?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How long one command waits for another, in milliseconds. A checkout of a large repository takes a while. */
const LOCK_TIMEOUT_MS = 60_000;

/** Runs the work while no other process changes this project. Not reentrant, and never called inside `change`. */
export function withProjectLock<T>(
  home: Home,
  root: string,
  { what, onWait, signal }: ProjectLockOptions,
  work: () => Promise<T>,
): Promise<T> {
  return withLock(home.lockName(`project-${sha256(root).slice(0, 16)}`), work, {
    what,
    timeoutMs: LOCK_TIMEOUT_MS,
    ...(onWait === undefined
      ? {}
      : { onWait: (holder) => onWait(`waiting for "${holder.what}" (pid ${holder.pid})`) }),
    ...(signal === undefined ? {} : { signal }),
  });
}
