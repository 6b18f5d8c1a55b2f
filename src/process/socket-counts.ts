import { closeSync, openSync, readSync } from 'node:fs';

/** How many TCP sockets there are that listen or are connected, by family; undefined where the system does not tell. */
export interface SocketCounts {
  readonly v4: number | undefined;
  /** One that listens for both families counts here. */
  readonly v6: number | undefined;
}

/** Counts them as often as somebody wants to know. That takes a few microseconds, however many there are. */
export interface SocketCounter {
  count(): SocketCounts;
  /** After that it does not tell any more. */
  close(): void;
}

/**
 * Nobody begins to listen without one of the numbers becoming greater; only when others close sockets between two looks,
 * it stays what it was or becomes smaller.
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

/** It is a few lines long. */
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
