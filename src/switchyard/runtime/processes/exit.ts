import { constants } from 'node:os';

/** How a process ended, as part of a sentence. */
export function describeExit(code: number | undefined, signal?: NodeJS.Signals | null): string {
  const by = signal ?? signalOf(code);
  if (by !== undefined) return `was killed by ${by}`;
  return code === undefined ? 'ended' : `exited with code ${code}`;
}

/** A shell reports signal N as the code 128 + N. */
function signalOf(code: number | undefined): string | undefined {
  if (code === undefined || code <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

/** The file that records how the last run of a service ended, next to its log. */
export function exitFileOf(logFile: string): string {
  return `${logFile.replace(/\.log$/, '')}.exit`;
}
