import { linesBackwards, type BackwardsOptions } from './read-backwards.ts';
import { partsOf } from './run-files.ts';
import { stripAnsi } from './strip-ansi.ts';

/** The last lines of a log, oldest first, without color codes. Empty if the file does not exist. */
export function tailLog(file: string, lines: number, options?: BackwardsOptions): string[] {
  const last: string[] = [];
  if (lines < 1) return last;
  for (const line of linesBackwards(partsOf(file), options)) {
    last.push(stripAnsi(line));
    if (last.length >= lines) break;
  }
  return last.reverse();
}
