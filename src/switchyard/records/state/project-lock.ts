import { withLock } from '../../../shared/lock.ts';
import { sha256 } from '../../../shared/sha256.ts';
import type { Home } from './home.ts';

/** How a command waits for another one that changes the project. */
export interface WaitOptions {
  /** Called once if another process holds the lock, with its purpose. */
  readonly onEvent?: ((event: { readonly kind: 'waiting'; readonly text: string }) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ProjectLockOptions extends WaitOptions {
  /** Describes the work to those who wait, for example `up feature/x`. */
  readonly what: string;
}

/** How long one command waits for another, in milliseconds. A checkout of a large repository takes a while. */
const LOCK_TIMEOUT_MS = 60_000;

/** Runs the work while no other process changes this project. Not reentrant, and never called inside `change`. */
export function withProjectLock<T>(
  { home, config }: { readonly home: Home; readonly config: { readonly root: string } },
  { what, onEvent, signal }: ProjectLockOptions,
  work: () => Promise<T>,
): Promise<T> {
  return withLock(home.lockName(`project-${sha256(config.root).slice(0, 16)}`), work, {
    what,
    timeoutMs: LOCK_TIMEOUT_MS,
    onWait: (holder) =>
      onEvent?.({ kind: 'waiting', text: `waiting for "${holder.what}" (pid ${holder.pid})` }),
    ...(signal === undefined ? {} : { signal }),
  });
}
