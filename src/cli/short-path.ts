import { isAbsolute, join, relative } from 'node:path';
import { homeDirectory } from '../shared/paths.ts';
import { printableLine } from '../shared/printable.ts';

/** A file as a person reads it: from where they are, from their home, or as it is, whichever is shortest. */
export function shortPath(file: string, cwd: string, home: string = homeDirectory()): string {
  const inHome = relative(home, file);
  const fromHome = inHome.startsWith('..') || isAbsolute(inHome) ? [] : [join('~', inHome)];
  const shortest = [relative(cwd, file), ...fromHome, file].reduce((best, path) =>
    path.length < best.length ? path : best,
  );
  return printableLine(shortest);
}
