import { realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const CONFIG_FILE = 'switchyard.toml';

/**
 * The `switchyard.toml` that counts in a directory, or for a file in it: the nearest one upwards. Symbolic links are
 * resolved first, so that a project has one root, however it was reached.
 */
export function findConfig(from: string): string | undefined {
  let directory = withoutLinks(from);
  if (isFile(directory)) directory = dirname(directory);
  for (;;) {
    const file = join(directory, CONFIG_FILE);
    if (isFile(file)) return file;
    const parent = dirname(directory);
    if (parent === directory) return undefined;
    directory = parent;
  }
}

function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It may have been deleted under us; what is above it still counts.
    return resolve(path);
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
