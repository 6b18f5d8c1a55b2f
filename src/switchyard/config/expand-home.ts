import { homedir } from 'node:os';
import { join } from 'node:path';

/** Expands `~` and `~/…` as a shell would; leaves everything else unchanged. */
export function expandHome(path: string): string {
  if (path === '~') return homedir();
  return /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path;
}
