/** In milliseconds. */
const FIRST = 1000;
const LONGEST = 30_000;
const LEAST_ASKED = 100;
const MOST_ASKED = 60_000;

/**
 * How long to wait before an event stream is opened again, in milliseconds: what the server asked for, and more after
 * several failures in a row. A little different each time, so that many clients do not come back in step.
 */
export function pauseAfter(failures: number, asked: number | undefined): number {
  const least = asked === undefined ? 0 : Math.min(Math.max(asked, LEAST_ASKED), MOST_ASKED);
  if (failures === 0 && asked !== undefined) return least;
  return Math.max(least, Math.min(LONGEST, FIRST * 2 ** failures) * (0.5 + Math.random() / 2));
}
