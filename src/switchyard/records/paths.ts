import { homedir } from 'node:os';
import { join, relative, isAbsolute, sep } from 'node:path';

export { realPath } from '../../shared/real-path.ts';

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
