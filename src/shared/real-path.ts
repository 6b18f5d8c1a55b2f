import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The path without symbolic links, even if its last parts do not exist (yet): a directory has the same real path before
 * and after it is created. A dangling link resolves to its target, because writing through it creates the target.
 */
export function realPath(path: string, linksLeft = 40): string {
  const absolute = resolve(path);
  try {
    // Unlike Node's own function, it returns the spelling on disk on case-insensitive file systems (macOS, Windows).
    return realpathSync.native(absolute);
  } catch {
    const parent = dirname(absolute);
    if (parent === absolute) return absolute;
    const located = join(realPath(parent, linksLeft), basename(absolute));
    const target = linksLeft > 0 ? linkTarget(located) : undefined;
    return target === undefined ? located : realPath(resolve(dirname(located), target), linksLeft - 1);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
