import { renameSync, rmSync, statSync } from 'node:fs';
import { earlierPart, KEPT_RUNS, runFile } from './run-files.ts';

/**
 * Makes room for the log of a new run: what is there becomes that of the run before. Whoever still writes to it goes on
 * in the renamed file, so that two runs never mix.
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
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Otherwise a part of an older run would be taken for one of this run.
    rmSync(to, { force: true });
  }
}
