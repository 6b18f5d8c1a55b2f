import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a project, for looking only: what is not there or cannot be read is empty. */
export interface ProjectFiles {
  has(path: string): boolean;
  isFile(path: string): boolean;
  /** The first part of it, which is all of any file that people write by hand. */
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
    // A pipe or a device would keep us waiting.
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
