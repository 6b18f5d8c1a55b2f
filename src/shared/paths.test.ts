import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { userConfigDirectory } from './paths.ts';

test.each<[string, Record<string, string>, NodeJS.Platform, string]>([
  ['XDG_CONFIG_HOME', { XDG_CONFIG_HOME: '/x' }, 'linux', join('/x', 'switchboard')],
  ['~/.config', {}, 'linux', join(homedir(), '.config', 'switchboard')],
  ['~/.config on a Mac too', {}, 'darwin', join(homedir(), '.config', 'switchboard')],
  ['APPDATA on Windows', { APPDATA: '/roaming' }, 'win32', join('/roaming', 'switchboard')],
  ['no relative path', { XDG_CONFIG_HOME: 'x' }, 'linux', join(homedir(), '.config', 'switchboard')],
])("a user's configuration is in %s", (_, env, platform, expected) => {
  expect(userConfigDirectory(env, platform)).toBe(expected);
});
