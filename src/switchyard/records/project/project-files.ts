import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile, statOf } from '../../../shared/regular-file.ts';

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
    isFile: (path) => statOf(join(root, path))?.isFile() === true,
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
    return readRegularFile(file).toString('utf8', 0, MOST_BYTES);
  } catch {
    return '';
  }
}
