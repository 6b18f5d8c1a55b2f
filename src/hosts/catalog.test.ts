import { mkdirSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { findHost, HOSTS } from './catalog.ts';
import { addressEntry, programEntry } from './build-entry.ts';
import type { HostEnvironment } from './host.ts';
import { refuseName } from './name-rule.ts';

const LINUX: HostEnvironment = { platform: 'linux', home: '/home/ada', env: {}, cwd: '/srv/shop' };
const MAC: HostEnvironment = { platform: 'darwin', home: '/Users/ada', env: {}, cwd: '/srv/shop' };
const WINDOWS: HostEnvironment = {
  platform: 'win32',
  home: 'C:\\Users\\ada',
  env: { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' },
  cwd: 'C:\\work\\shop',
};
const userFile = (name: string, where: HostEnvironment): string => findHost(name).files.user(where)[0]!;

describe('the file of a user', () => {
  test.each([
    ['claude-code', '/home/ada/.claude.json', '/Users/ada/.claude.json', 'C:\\Users\\ada\\.claude.json'],
    [
      'claude-desktop',
      '/home/ada/.config/Claude/claude_desktop_config.json',
      '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    ],
    [
      'cursor',
      '/home/ada/.cursor/mcp.json',
      '/Users/ada/.cursor/mcp.json',
      'C:\\Users\\ada\\.cursor\\mcp.json',
    ],
    [
      'vscode',
      '/home/ada/.config/Code/User/mcp.json',
      '/Users/ada/Library/Application Support/Code/User/mcp.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json',
    ],
    [
      'windsurf',
      '/home/ada/.codeium/windsurf/mcp_config.json',
      '/Users/ada/.codeium/windsurf/mcp_config.json',
      'C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json',
    ],
    [
      'gemini',
      '/home/ada/.gemini/settings.json',
      '/Users/ada/.gemini/settings.json',
      'C:\\Users\\ada\\.gemini\\settings.json',
    ],
    [
      'codex',
      '/home/ada/.codex/config.toml',
      '/Users/ada/.codex/config.toml',
      'C:\\Users\\ada\\.codex\\config.toml',
    ],
    [
      'zed',
      '/home/ada/.config/zed/settings.json',
      '/Users/ada/.config/zed/settings.json',
      'C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json',
    ],
    [
      'cline',
      '/home/ada/.cline/data/settings/cline_mcp_settings.json',
      '/Users/ada/.cline/data/settings/cline_mcp_settings.json',
      'C:\\Users\\ada\\.cline\\data\\settings\\cline_mcp_settings.json',
    ],
    [
      'copilot',
      '/home/ada/.copilot/mcp-config.json',
      '/Users/ada/.copilot/mcp-config.json',
      'C:\\Users\\ada\\.copilot\\mcp-config.json',
    ],
    [
      'opencode',
      '/home/ada/.config/opencode/opencode.jsonc',
      '/Users/ada/.config/opencode/opencode.jsonc',
      'C:\\Users\\ada\\.config\\opencode\\opencode.jsonc',
    ],
  ])('of %s', (name, linux, mac, windows) => {
    expect(userFile(name, LINUX)).toBe(linux);
    expect(userFile(name, MAC)).toBe(mac);
    expect(userFile(name, WINDOWS)).toBe(windows);
  });

  test('is elsewhere where the environment says so', () => {
    const on = (env: HostEnvironment['env'], where = LINUX): HostEnvironment => ({ ...where, env });
    expect(userFile('claude-code', on({ CLAUDE_CONFIG_DIR: '/c' }))).toBe('/c/.claude.json');
    expect(userFile('codex', on({ CODEX_HOME: '/x' }))).toBe('/x/config.toml');
    expect(userFile('gemini', on({ GEMINI_CLI_HOME: '/g' }))).toBe('/g/.gemini/settings.json');
    expect(userFile('zed', on({ XDG_CONFIG_HOME: '/conf' }))).toBe('/conf/zed/settings.json');
    expect(userFile('opencode', on({ XDG_CONFIG_HOME: '/conf' }, MAC))).toBe('/conf/opencode/opencode.jsonc');
    expect(userFile('copilot', on({ COPILOT_HOME: '/cp' }))).toBe('/cp/mcp-config.json');
    expect(userFile('cline', on({ CLINE_DIR: '/cl' }))).toBe('/cl/data/settings/cline_mcp_settings.json');
    expect(userFile('cline', on({ CLINE_DATA_DIR: '/d' }))).toBe('/d/settings/cline_mcp_settings.json');
    expect(userFile('cline', on({ CLINE_MCP_SETTINGS_PATH: '/m.json' }))).toBe('/m.json');
    expect(findHost('cline').files.user(LINUX)[1]).toBe(
      '/home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    );
    expect(userFile('vscode', on({ XDG_CONFIG_HOME: '/conf' }))).toBe('/conf/Code/User/mcp.json');
    expect(findHost('claude-desktop').files.user(on({ XDG_CONFIG_HOME: '/conf' }))).toEqual([
      '/conf/Claude/claude_desktop_config.json',
      '/conf/claude/claude_desktop_config.json',
    ]);
    expect(userFile('vscode', on({ XDG_CONFIG_HOME: '/conf' }, MAC))).toContain('/Library/');
    expect(userFile('vscode', on({}, WINDOWS))).toBe(
      'C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json',
    );
  });
});

test('Claude Desktop for Windows, where it is a package, has its file in that', () => {
  const project = createProject();
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(project.dir);
  const where = { ...WINDOWS, env: { ...WINDOWS.env, LOCALAPPDATA: 'local' } };
  const usual = 'C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json';
  expect(findHost('claude-desktop').files.user(where)).toEqual([usual]);
  // On other systems, this is a single name.
  const folder = 'local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude';
  mkdirSync(folder, { recursive: true });
  expect(findHost('claude-desktop').files.user(where)).toEqual([
    `${folder}\\claude_desktop_config.json`,
    usual,
  ]);
});

test('without APPDATA, it is in the profile of the user', () => {
  const where = { ...WINDOWS, env: {} };
  expect(HOSTS.map((host) => host.files.user(where)[0])).toEqual(
    HOSTS.map((host) => host.files.user(WINDOWS)[0]),
  );
});

test('on Windows, the file of a project is in it too', () => {
  const files = HOSTS.flatMap(({ files: { project } }) => project?.(WINDOWS)[0] ?? []);
  expect(files.map((file) => file.replace('C:\\work\\shop\\', ''))).toEqual(
    HOSTS.flatMap(({ files: { project } }) => project?.(LINUX)[0] ?? []).map((file) =>
      file.replace('/srv/shop/', '').replaceAll('/', '\\'),
    ),
  );
});

test('the file of a project is in it', () => {
  const files = HOSTS.map(({ name, files: { project } }) => [
    name,
    project?.(LINUX)[0]?.replace('/srv/shop/', ''),
  ]);
  expect(Object.fromEntries(files)).toEqual({
    'claude-code': '.mcp.json',
    'claude-desktop': undefined,
    cursor: '.cursor/mcp.json',
    vscode: '.vscode/mcp.json',
    windsurf: undefined,
    gemini: '.gemini/settings.json',
    codex: '.codex/config.toml',
    zed: '.zed/settings.json',
    cline: undefined,
    copilot: '.github/mcp.json',
    opencode: 'opencode.jsonc',
  });
  expect(findHost('vscode').files.project!(WINDOWS)).toEqual(['C:\\work\\shop\\.vscode\\mcp.json']);
});

test('a host goes by several names, and nothing else is one', () => {
  expect(findHost('Claude').name).toBe('claude-code');
  expect(findHost('desktop').name).toBe('claude-desktop');
  expect(findHost('code').name).toBe('vscode');
  expect(() => findHost('curser')).toThrow('Unknown host "curser".');
  const words = HOSTS.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(new Set(words).size).toBe(words.length);
});

test('an entry is written as the host writes it', () => {
  const program = { command: '/n', args: ['/s'], variables: ['EDITOR', 'API_TOKEN'] };
  const address = { url: 'http://127.0.0.1:3006/mcp', tokenVariable: 'T' };
  const url = address.url;
  const shell = { Authorization: 'Bearer ${T}' };
  const editor = { Authorization: 'Bearer ${env:T}' };
  expect(
    Object.fromEntries(
      HOSTS.map((host) => [host.name, [programEntry(host, program), addressEntry(host, address)]]),
    ),
  ).toEqual({
    'claude-code': [
      { type: 'stdio', command: '/n', args: ['/s'] },
      { type: 'http', url, headers: shell },
    ],
    'claude-desktop': [{ command: '/n', args: ['/s'] }, undefined],
    cursor: [
      { command: '/n', args: ['/s'] },
      { url, headers: editor },
    ],
    vscode: [
      { type: 'stdio', command: '/n', args: ['/s'] },
      { type: 'http', url, headers: editor },
    ],
    windsurf: [
      { command: '/n', args: ['/s'] },
      { serverUrl: url, headers: editor },
    ],
    // Gemini drops variables that look like a secret by their name or value, so every variable is listed.
    gemini: [
      { command: '/n', args: ['/s'], env: { EDITOR: '${EDITOR}', API_TOKEN: '${API_TOKEN}' } },
      { httpUrl: url, headers: shell },
    ],
    codex: [
      { command: '/n', args: ['/s'], env_vars: ['EDITOR', 'API_TOKEN'] },
      { url, bearer_token_env_var: 'T' },
    ],
    // Its headers are literal, so there is no place for a token.
    zed: [{ source: 'custom', command: '/n', args: ['/s'] }, undefined],
    cline: [
      {
        type: 'stdio',
        command: '/n',
        args: ['/s'],
        env: { EDITOR: '${env:EDITOR}', API_TOKEN: '${env:API_TOKEN}' },
      },
      { type: 'streamableHttp', url, headers: editor },
    ],
    copilot: [
      {
        type: 'local',
        tools: ['*'],
        command: '/n',
        args: ['/s'],
        env: { EDITOR: '${EDITOR}', API_TOKEN: '${API_TOKEN}' },
      },
      { type: 'http', tools: ['*'], url, headers: shell },
    ],
    opencode: [
      { type: 'local', command: ['/n', '/s'] },
      { type: 'remote', url, headers: { Authorization: 'Bearer {env:T}' } },
    ],
  });
});

test('a name that the host would not take is refused', () => {
  for (const host of HOSTS) {
    expect(() => refuseName('switchboard', host)).not.toThrow();
    for (const name of ['', 'a b', 'a.b', 'ä', 'x'.repeat(33)])
      expect(() => refuseName(name, host)).toThrow(host.title);
  }
  expect(() => refuseName('a_b', findHost('gemini'))).toThrow('only letters, digits and "-"');
  expect(() => refuseName('a_b', findHost('codex'))).not.toThrow();
  expect(() => refuseName('workspace', findHost('claude-code'))).toThrow('it is reserved');
});

test('Gemini CLI may leave a new server off', () => {
  const { obstacle } = findHost('gemini');
  expect(obstacle!({ mcp: { excluded: ['switchboard'] } }, 'switchboard')).toContain('"mcp.excluded"');
  for (const document of [undefined, {}, { mcp: {} }, { mcp: { excluded: ['a'] } }])
    expect(obstacle!(document, 'switchboard')).toBeUndefined();
});
