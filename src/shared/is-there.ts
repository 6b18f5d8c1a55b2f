import { lstatSync } from 'node:fs';

/** Whether there is anything at this path, including a broken link. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
