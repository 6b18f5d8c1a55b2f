import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where this program keeps what it remembers between runs; made by whoever writes there first, for its owner only. */
export function stateDirectory(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  if (env.SWITCHBOARD_STATE_DIR) return env.SWITCHBOARD_STATE_DIR;
  if (env.XDG_STATE_HOME) return join(env.XDG_STATE_HOME, 'switchboard');
  if (platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'switchboard');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'switchboard');
  return join(homedir(), '.local', 'state', 'switchboard');
}
