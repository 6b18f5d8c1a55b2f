import { posix, win32 } from 'node:path';
import type { HostEnvironment } from './host.ts';

/** Joins path segments for the system that the path is for, which may differ from the current one. */
export function joinPath(
  { platform }: Pick<HostEnvironment, 'platform'>,
  ...parts: readonly string[]
): string {
  return (platform === 'win32' ? win32 : posix).join(...parts);
}

/** Where graphical programs store their settings: `%APPDATA%`, `~/Library/Application Support`, `~/.config`. */
export function settingsHome(where: HostEnvironment): string {
  const { platform, home, env } = where;
  if (platform === 'win32') return env.APPDATA || joinPath(where, home, 'AppData', 'Roaming');
  if (platform === 'darwin') return joinPath(where, home, 'Library', 'Application Support');
  // According to the specification of this variable, a relative path is to be ignored.
  const xdg = env.XDG_CONFIG_HOME;
  return xdg && posix.isAbsolute(xdg) ? xdg : joinPath(where, home, '.config');
}
