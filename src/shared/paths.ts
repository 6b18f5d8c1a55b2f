import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, win32 } from 'node:path';
import { SwitchboardError } from './errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The directory of the state kept between runs. Created on the first write, accessible only to its owner. */
export function stateDirectory(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const { SWITCHBOARD_STATE_DIR: own, XDG_STATE_HOME: xdg, LOCALAPPDATA: local } = env;
  if (isUsable(own, platform)) return own;
  if (isUsable(xdg, platform)) return join(xdg, 'switchboard');
  if (platform === 'win32' && isUsable(local, platform)) return join(local, 'switchboard');
  if (platform === 'darwin') return join(homeDirectory(), 'Library', 'Application Support', 'switchboard');
  return join(homeDirectory(), '.local', 'state', 'switchboard');
}

/** The directory of the user file, which applies to every project. It may not exist. */
export function userConfigDirectory(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const { XDG_CONFIG_HOME: xdg, APPDATA: appData } = env;
  if (isUsable(xdg, platform)) return join(xdg, 'switchboard');
  if (platform === 'win32' && isUsable(appData, platform)) return join(appData, 'switchboard');
  return join(homeDirectory(), '.config', 'switchboard');
}

/** The home directory, absolute. Without a usable HOME, the system's entry for the user counts. */
export function homeDirectory(): string {
  const named = homedir();
  if (isAbsolute(named)) return named;
  const known = systemHome();
  if (known !== undefined) return known;
  throw new SwitchboardError('NO_HOME', 'Your home directory is unknown: HOME is not an absolute path.', {
    hint: 'Set HOME to the full path of your home directory.',
  });
}

/**
 * Warnings, as sentences, about variables that do not contain an absolute path. They are ignored, as the XDG
 * specification requires: in a repository, its files would otherwise count as the user's own.
 */
export function ignoredPaths(env: Environment = process.env): string[] {
  return ['HOME', 'SWITCHBOARD_STATE_DIR', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'].flatMap((name) => {
    const value = env[name];
    // An empty variable means unset, but not to programs that read HOME.
    if (value === undefined || isAbsolute(value) || (value === '' && name !== 'HOME')) return [];
    return [`${name} is ignored, because ${JSON.stringify(value)} is not an absolute path.`];
  });
}

/** A relative path would mean a different place in every directory. */
function isUsable(path: string | undefined, platform: NodeJS.Platform): path is string {
  if (path === undefined) return false;
  return isAbsolute(path) || (platform === 'win32' && win32.isAbsolute(path));
}

function systemHome(): string | undefined {
  try {
    const { homedir: home } = userInfo();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}
