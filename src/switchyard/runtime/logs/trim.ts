import {
  closeSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { earlierPart } from './run-files.ts';

/** Maximum length of a log, in bytes. */
const LOG_CAP = 10 * 1024 * 1024;

/** An older copy was left by a process that died, in milliseconds. */
const ABANDONED = 60_000;

const BLOCK = 256 * 1024;

/**
 * Shortens the log of a running service that exceeds the cap: its last part, half the cap, moves to a file next to it,
 * and the log starts over. The service keeps writing undisturbed, because it appends. Returns whether the log was
 * trimmed.
 */
export function trimLog(file: string, cap = LOG_CAP): boolean {
  // A link may point to another user's file, which must not be truncated.
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size <= cap) return false;
  const part = earlierPart(file);
  const fresh = `${part}.new`;
  const copy = openAlone(fresh);
  if (copy === undefined) return false;
  try {
    if (!moveEnd(file, copy, cap)) return false;
    renameSync(fresh, part);
    return true;
  } finally {
    closeSync(copy);
    rmSync(fresh, { force: true });
  }
}

/** Undefined while another process does the same work. */
function openAlone(file: string): number | undefined {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    if (nodeErrorCode(error) !== 'EEXIST') throw error;
    const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > ABANDONED) rmSync(file, { force: true });
    return undefined;
  }
}

/** Copies the end of the log and truncates it, unless another process has trimmed it meanwhile. */
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
