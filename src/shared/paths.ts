import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

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

/** Where a person's own configuration is, which holds in every project. It need not exist. */
export function userConfigDirectory(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const { XDG_CONFIG_HOME: xdg, APPDATA: appData } = env;
  // A relative path is to be ignored, says the specification of this variable.
  if (xdg && isAbsolute(xdg)) return join(xdg, 'switchboard');
  if (platform === 'win32' && appData) return join(appData, 'switchboard');
  return join(homedir(), '.config', 'switchboard');
}
