import type { Transport } from '../transport.ts';

/** A remote server that does not respond for so long counts as silent, in milliseconds. */
const SILENCE = 3000;
/** And so does a program that has only waited for so long, if it has never responded to this before. */
const PROGRAM_SILENCE = 250;
/** The part of the start timeout that all of this may take at most. */
const SILENT_PART = 1 / 3;

/**
 * Calls back when a server that is starting seems to ignore a request. A program that is busy is still starting: only
 * the time in which it waits counts. `expected`: it has responded to such a request before. Returns how to end that.
 */
export function whenSilent(
  transport: Pick<Transport, 'watch'>,
  timeoutMs: number,
  expected: boolean,
  then: () => void,
): () => void {
  const longest = timeoutMs * SILENT_PART;
  const limit = Math.min(SILENCE, longest);
  const timer = setTimeout(then, transport.watch === undefined ? limit : longest);
  const unwatch = transport.watch?.((idleMs) => {
    if (idleMs >= (expected ? limit : Math.min(PROGRAM_SILENCE, limit))) then();
  });
  return () => {
    clearTimeout(timer);
    unwatch?.();
  };
}
