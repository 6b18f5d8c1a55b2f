import { lstatSync, renameSync } from 'node:fs';

/**
 * Moves a directory to its place; what was there goes to `old`, or stands there again when the new one cannot be put in
 * its place.
 */
export function swapIn(path: string, fresh: string, old: string): void {
  const before = isTaken(path);
  if (before) renameSync(path, old);
  try {
    renameSync(fresh, path);
  } catch (error) {
    if (before) renameSync(old, path);
    throw error;
  }
}

/** Whether anything stands there, be it a link that leads nowhere. */
export function isTaken(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
