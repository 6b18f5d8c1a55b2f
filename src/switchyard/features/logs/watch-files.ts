import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

export interface FileChanges {
  /** Resolves on a change, at the polling interval, or on abort. Returns whether nothing changed. */
  next(): Promise<boolean>;
  close(): void;
}

/** Watches directories, not files: a watch on a file follows it when it is renamed. */
export function watchFiles(files: readonly string[], poll: number, signal: AbortSignal): FileChanges {
  let changed = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    changed = true;
    wake?.();
  };
  const watchers = [...new Set(files.map((file) => dirname(file)))].map((directory) =>
    tryWatch(directory, notify),
  );
  signal.addEventListener('abort', notify);
  return {
    async next() {
      if (!changed && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, poll);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      const quiet = !changed;
      changed = false;
      return quiet;
    },
    close() {
      signal.removeEventListener('abort', notify);
      for (const watcher of watchers) watcher?.close();
    },
  };
}

/**
 * Polling takes over if watching is impossible: the directory does not exist yet, or the limit of watches is reached.
 */
function tryWatch(directory: string, notify: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, notify);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
