import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, basename, relative, resolve, isAbsolute, sep } from 'node:path';

/**
 * The path without symbolic links, even if its last parts do not exist (yet): a directory has the same name before and
 * after it is created. A dangling link resolves to its target, because writing through it creates the target.
 */
export function realPath(path: string, linksLeft = 40): string {
  const absolute = resolve(path);
  try {
    return resolved(absolute);
  } catch {
    const parent = dirname(absolute);
    if (parent === absolute) return absolute;
    const located = join(realPath(parent, linksLeft), basename(absolute));
    const target = linksLeft > 0 ? linkTarget(located) : undefined;
    return target === undefined ? located : realPath(resolve(dirname(located), target), linksLeft - 1);
  }
}

/**
 * Node's own implementation checks each part of every path. On other systems, the native one returns the spelling on
 * disk instead of the given one.
 */
const resolved = process.platform === 'linux' ? realpathSync.native : realpathSync;

/** Whether the path is the directory or inside it. Both must be absolute, without links and `..`. */
export function isInside(directory: string, path: string): boolean {
  const relativePath = relative(directory, path);
  return (
    relativePath === '' ||
    (relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath))
  );
}

/** Expands `~` and `~/…` as a shell would; leaves everything else unchanged. */
export function expandHome(path: string): string {
  if (path === '~') return homedir();
  return /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path;
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
