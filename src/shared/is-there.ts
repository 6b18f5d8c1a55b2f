import { lstatSync } from 'node:fs';

/** Whether something has this name, be it a broken link. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
