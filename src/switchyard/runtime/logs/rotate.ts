import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { earlierPart, KEPT_RUNS, runFile } from './run-files.ts';

/**
 * Makes way for the log of a new run: the current log becomes that of the previous run. A process that still writes to
 * it continues in the renamed file, so that two runs never mix.
 */
export function rotateForRun(file: string): void {
  // A run without output, or that was never started, must not displace one with output.
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  for (let run = KEPT_RUNS; run > 0; run--) {
    move(runFile(file, run - 1), runFile(file, run));
    move(earlierPart(runFile(file, run - 1)), earlierPart(runFile(file, run)));
  }
}

function move(from: string, to: string): void {
  // Most do not exist, and a failed rename is slower than a check.
  if (existsSync(from) && moved(from, to)) return;
  // Otherwise a part of an older run would count as part of this one.
  if (existsSync(to)) rmSync(to, { force: true });
}

/** False if it disappeared in the meantime. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (nodeErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
