import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { earlierPart, KEPT_RUNS, runFile } from './run-files.ts';

/**
 * Makes way for the log of a new run: the current log becomes that of the previous run. A process that still writes to
 * it continues in the renamed file, so that two runs never mix.
 */
export function rotateForRun(file: string): void {
  // A run that said nothing, or was never started, must not push out one that did.
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  for (let run = KEPT_RUNS; run > 0; run--) {
    move(runFile(file, run - 1), runFile(file, run));
    move(earlierPart(runFile(file, run - 1)), earlierPart(runFile(file, run)));
  }
}

function move(from: string, to: string): void {
  // Most are not there, and to be refused takes longer than to ask.
  if (existsSync(from) && moved(from, to)) return;
  // Otherwise a part of an older run would be taken for one of this run.
  if (existsSync(to)) rmSync(to, { force: true });
}

/** False when it has gone meanwhile. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
