import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, basename, relative, resolve, isAbsolute, sep } from 'node:path';

/**
 * The path without symbolic links, also when its last parts do not exist (yet): a directory has one name before and
 * after it is made. A link that leads nowhere counts as the place it names, since whoever writes there makes that.
 */
export function realPath(path: string, linksLeft = 40): string {
  const absolute = resolve(path);
  try {
    return resolved(absolute);
  } catch {
    const parent = dirname(absolute);
    if (parent === absolute) return absolute;
    const place = join(realPath(parent, linksLeft), basename(absolute));
    const target = linksLeft > 0 ? linkTarget(place) : undefined;
    return target === undefined ? place : realPath(resolve(dirname(place), target), linksLeft - 1);
  }
}

/**
 * Node's own looks at each part of the path, again for each path. Elsewhere the system's spells a name as it is on the
 * disk, not as it was written.
 */
const resolved = process.platform === 'linux' ? realpathSync.native : realpathSync;

/** Whether the path is the directory or lies in it. Both are absolute and free of links and `..`. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
