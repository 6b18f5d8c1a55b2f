import {
  closeSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { LOG_LIMIT } from './log-limit.ts';
import { earlierPart } from './run-files.ts';

const BLOCK = 256 * 1024;

/**
 * Shortens the log of a running service that exceeds the cap: its last part, half the cap, moves to a file next to it,
 * and the log starts over. The service keeps writing undisturbed, because it appends. Returns whether the log was
 * trimmed. Call it under a lock: two processes would make the same copy.
 */
export function trimLog(file: string, cap = LOG_LIMIT): boolean {
  // A link may point to another user's file, which must not be truncated.
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size <= cap) return false;
  const part = earlierPart(file);
  const fresh = `${part}.new`;
  // A process that died may have left one.
  rmSync(fresh, { force: true });
  const copy = openSync(fresh, 'wx', 0o600);
  try {
    if (!moveEnd(file, copy, cap)) return false;
    renameSync(fresh, part);
    return true;
  } finally {
    closeSync(copy);
    rmSync(fresh, { force: true });
  }
}

/** Copies the end of the log and truncates it, unless it is short by now. */
function moveEnd(file: string, copy: number, cap: number): boolean {
  const log = openSync(file, 'r+');
  try {
    const { size } = fstatSync(log);
    if (size <= cap) return false;
    const half = Math.floor(cap / 2);
    const block = Buffer.allocUnsafe(BLOCK);
    let position = size - half;
    let got: number;
    // The service keeps writing; do not wait for one that is faster than we are.
    while (position < size + half / 2 && (got = readSync(log, block, 0, BLOCK, position)) > 0) {
      // The copy begins with a whole line, if there is one.
      const from = position === size - half ? block.subarray(0, got).indexOf(0x0a) + 1 : 0;
      writeAll(copy, block.subarray(from, got));
      position += got;
    }
    // Output between the end of the copy and this call is lost, so nothing may come between them.
    ftruncateSync(log, 0);
    return true;
  } finally {
    closeSync(log);
  }
}

function writeAll(target: number, bytes: Buffer): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(target, bytes, done);
}
