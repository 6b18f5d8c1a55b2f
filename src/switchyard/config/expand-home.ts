import { homedir } from 'node:os';
import { join } from 'node:path';

/** `~` and `~/…` as the shell would write them; everything else stays. */
export function expandHome(path: string): string {
  if (path === '~') return homedir();
  return /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path;
}
