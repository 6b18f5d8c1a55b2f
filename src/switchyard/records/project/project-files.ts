import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Read-only access to the files of a project; missing or unreadable files are empty. */
export interface ProjectFiles {
  has(path: string): boolean;
  isFile(path: string): boolean;
  /** The beginning of the file, which is all of any hand-written file. */
  text(path: string): string;
  /** Names in a directory, sorted. */
  names(directory: string): readonly string[];
}

export function filesOf(root: string): ProjectFiles {
  return {
    has: (path) => existsSync(join(root, path)),
    isFile(path) {
      try {
        return statSync(join(root, path)).isFile();
      } catch {
        return false;
      }
    },
    text: (path) => firstPart(join(root, path)),
    names(directory) {
      try {
        return readdirSync(join(root, directory)).sort();
      } catch {
        return [];
      }
    },
  };
}

const MOST_BYTES = 256 * 1024;

function firstPart(file: string): string {
  try {
    // Reading a pipe or a device would block.
    if (!statSync(file).isFile()) return '';
    const opened = openSync(file, 'r');
    try {
      const buffer = Buffer.allocUnsafe(MOST_BYTES);
      return buffer.toString('utf8', 0, readSync(opened, buffer, 0, MOST_BYTES, 0));
    } finally {
      closeSync(opened);
    }
  } catch {
    return '';
  }
}
