import { closeSync, openSync, readSync } from 'node:fs';

/** Number of TCP sockets that listen or are connected, by family; undefined where the system does not expose it. */
export interface SocketCounts {
  readonly v4: number | undefined;
  /** Includes sockets that listen on both families. */
  readonly v6: number | undefined;
}

/** Counts them on demand, in a few microseconds, no matter how many there are. */
export interface SocketCounter {
  count(): SocketCounts;
  /** Afterwards it reports nothing. */
  close(): void;
}

/**
 * A new listener increases one of the counts. It stays the same or drops only if other sockets were closed between two
 * reads.
 */
export function createSocketCounter(): SocketCounter {
  const v4 = openCount('/proc/net/sockstat', /^TCP: inuse (\d+)/m);
  const v6 = openCount('/proc/net/sockstat6', /^TCP6: inuse (\d+)/m);
  return {
    count: () => ({ v4: v4?.read(), v6: v6?.read() }),
    close() {
      v4?.close();
      v6?.close();
    },
  };
}

/** The file has only a few lines. */
const LONGEST = 1024;

/** Keeps the file open: the kernel generates its content again on every read from position 0. */
function openCount(path: string, pattern: RegExp) {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  const bytes = Buffer.alloc(LONGEST);
  return {
    read(): number | undefined {
      if (file === undefined) return undefined;
      try {
        const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, LONGEST, 0));
        const found = pattern.exec(text)?.[1];
        return found === undefined ? undefined : Number(found);
      } catch {
        return undefined;
      }
    },
    close(): void {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
