import { realpathSync } from 'node:fs';
import { withLock } from '../../../process/index.ts';
import type { Context } from '../command.ts';

/**
 * Does the work while no other wrap or unwrap is at the same folder, by whatever path. Nothing is written for that, and
 * a killed program blocks no other.
 */
export function withFolderLock<T>(
  folder: string,
  what: string,
  context: Context,
  work: () => Promise<T> | T,
): Promise<T> {
  return withLock(`wrap ${realpathSync(folder)}`, work, {
    what: `${context.variant.program} ${what}`,
    timeoutMs: TIMEOUT_MS,
    signal: context.stop,
    onWait: ({ pid, what: other }) => context.log.info(`waiting for process ${pid} (${other})`),
  });
}

/** Another one may have to start the server first, in milliseconds. */
const TIMEOUT_MS = 60_000;
