import { lstatSync, renameSync } from 'node:fs';

/** Moves a directory to `path`; the existing one goes to `old`, and is restored if the move fails. */
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

/** Whether the path exists, including a dangling link. */
export function isTaken(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
