import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { homeDirectory, ignoredPaths, stateDirectory, userConfigDirectory } from './paths.ts';

test.each<[string, Record<string, string>, NodeJS.Platform, string]>([
  ['XDG_CONFIG_HOME', { XDG_CONFIG_HOME: '/x' }, 'linux', join('/x', 'switchboard')],
  ['~/.config', {}, 'linux', join(homedir(), '.config', 'switchboard')],
  ['~/.config on a Mac too', {}, 'darwin', join(homedir(), '.config', 'switchboard')],
  ['APPDATA on Windows', { APPDATA: '/roaming' }, 'win32', join('/roaming', 'switchboard')],
  ['no relative path', { XDG_CONFIG_HOME: 'x' }, 'linux', join(homedir(), '.config', 'switchboard')],
])("a user's configuration is in %s", (_, env, platform, expected) => {
  expect(userConfigDirectory(env, platform)).toBe(expected);
});

test('a relative path means another place in every directory, and is ignored with a word', () => {
  const usual = stateDirectory({}, 'linux');
  for (const name of ['SWITCHBOARD_STATE_DIR', 'XDG_STATE_HOME']) {
    expect(stateDirectory({ [name]: 'state' }, 'linux')).toBe(usual);
    expect(stateDirectory({ [name]: '/state' }, 'linux')).toMatch(/^\/state/);
  }
  expect(ignoredPaths({ SWITCHBOARD_STATE_DIR: './x', XDG_STATE_HOME: '/x', XDG_CONFIG_HOME: '' })).toEqual([
    'SWITCHBOARD_STATE_DIR is ignored, because "./x" is not an absolute path.',
  ]);
  expect(ignoredPaths({ HOME: '' })).toEqual(['HOME is ignored, because "" is not an absolute path.']);
});

test.each(['', 'relative'])('with HOME %o the home is the one that the system knows', (value) => {
  vi.stubEnv('HOME', value);
  expect(homeDirectory()).toBe(userInfo().homedir);
  expect(isAbsolute(stateDirectory({}, 'linux'))).toBe(true);
  vi.unstubAllEnvs();
});
