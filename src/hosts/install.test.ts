import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isObject } from '../shared/is-object.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findHost, HOSTS } from './catalog.ts';
import { programEntry } from './build-entry.ts';
import type { HostName, Scope, HostEnvironment } from './host.ts';
import * as entries from './install.ts';
import { isPresent, locationOf, type HostLocation } from './location.ts';
import { plainEntry } from './plain-entry.ts';
import { readServers } from './read-servers.ts';

function home(): HostEnvironment {
  const made = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'switchboard-hosts-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  fs.mkdirSync(join(made, 'project'));
  stateDirectory = join(made, '.state');
  return { platform: 'linux', home: made, env: {}, cwd: join(made, 'project') };
}
/** The state directory of the current test. */
let stateDirectory = '';
type Options<T> = Omit<T, 'stateDirectory'>;
const installEntry = (options: Options<entries.InstallOptions>) =>
  entries.installEntry({ ...options, stateDirectory });
const uninstallEntry = (options: Options<entries.EntryOptions>) =>
  entries.uninstallEntry({ ...options, stateDirectory });
const location = (name: HostName, where: HostEnvironment, scope: Scope = 'user'): HostLocation =>
  locationOf(findHost(name), scope, where);
const program = (command: string) => ({ command, args: ['--config', '/c.json'] });
const isOurs = (entry: unknown): boolean => {
  const plain = plainEntry(entry);
  return isObject(plain) && String(plain.command).startsWith('/sb');
};
const put = ({ file }: HostLocation, text: string): void => {
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};
const name = 'switchboard';

describe.each(HOSTS)('$title', (host) => {
  const scopes = (['user', 'project'] as const).filter((scope) => host.files[scope] !== undefined);
  const toml = host.format === 'toml';
  const key = host.keyPath[0]!;
  const texts = toml
    ? ['', 'model = "x"', 'model = "x"\r\n', '# c\n', `[${key}]\n`, `[${key}.other]\ncommand = "o"\n\n`]
    : [
        '',
        '{}',
        '{}\n',
        `{"${key}": {}}`,
        `{\n  "${key}": {}\n}\n`,
        `{\n  "${key}": {\n    "other": { "command": "o" }\n  },\n  "z": 1\n}`,
      ];

  test.each(scopes)(
    'installing and uninstalling (%s) gives the bytes before, also after an update',
    async (scope) => {
      for (const text of [undefined, ...texts]) {
        const where = home();
        const at = locationOf(host, scope, where);
        if (text !== undefined) put(at, text);
        const install = (command: string) =>
          installEntry({ location: at, name, entry: programEntry(host, program(command)), isOurs });
        expect(await install('/sb1')).toMatchObject({ kind: 'done', action: 'added' });
        expect(await install('/sb1')).toMatchObject({ action: 'unchanged', backup: undefined });
        expect(await install('/sb2')).toMatchObject({ action: 'updated' });
        expect(
          plainEntry(readServers(host, where).find((server) => server.name === name)?.value),
        ).toMatchObject({ command: '/sb2', args: ['--config', '/c.json'] });
        expect(await uninstallEntry({ location: at, name, isOurs })).toMatchObject({ action: 'removed' });
        expect(fs.existsSync(at.file) ? fs.readFileSync(at.file, 'utf8') : undefined).toBe(text);
        expect(await uninstallEntry({ location: at, name, isOurs })).toMatchObject({ action: 'absent' });
      }
    },
  );

  test('what came into the file meanwhile stays', async () => {
    const where = home();
    const at = locationOf(host, 'user', where);
    await installEntry({ location: at, name, entry: programEntry(host, program('/sb')), isOurs });
    await installEntry({ location: at, name: 'later', entry: { command: 'l' }, isOurs });
    await uninstallEntry({ location: at, name, isOurs });
    expect(readServers(host, where)).toMatchObject([{ name: 'later', value: { command: 'l' } }]);
  });
});

test('an entry that is not ours is neither replaced nor removed, unless that is wanted', async () => {
  const where = home();
  const at = location('cursor', where);
  put(at, '{"mcpServers": {"switchboard": {"command": "theirs", "trust": true}}}');
  const before = fs.readFileSync(at.file, 'utf8');
  const entry = program('/sb');
  const theirs = { kind: 'taken', entry: { command: 'theirs', trust: true } };
  expect(await installEntry({ location: at, name, entry, isOurs })).toEqual(theirs);
  expect(await uninstallEntry({ location: at, name, isOurs })).toEqual(theirs);
  expect(fs.readFileSync(at.file, 'utf8')).toBe(before);
  // What the user has allowed another program is not allowed for us.
  expect(await installEntry({ location: at, name, entry, isOurs, force: true })).toMatchObject({
    action: 'updated',
  });
  expect(readServers(at.host, where)[0]!.value).toEqual(entry);
});

test('variables and settings that a person has added to our entry stay', async () => {
  const where = home();
  const at = location('gemini', where);
  put(at, '{"mcpServers": {"switchboard": {"command": "/sb", "env": {"A": "1"}, "timeout": 5}}}');
  await installEntry({ location: at, name, entry: { ...program('/sb2'), env: { B: '${B}' } }, isOurs });
  expect(readServers(at.host, where)[0]!.value).toEqual({
    ...program('/sb2'),
    env: { A: '1', B: '${B}' },
    timeout: 5,
  });
});

test('settings of our tools alone are no entry; they stay when it comes, and go with it', async () => {
  const where = home();
  const at = location('codex', where);
  put(at, '[mcp_servers.switchboard.tools.x]\napproval_mode = "approve"\n');
  expect(await uninstallEntry({ location: at, name, isOurs })).toMatchObject({ action: 'absent' });
  const entry = { ...program('/sb'), env_vars: ['A'] };
  expect(await installEntry({ location: at, name, entry, isOurs })).toMatchObject({
    kind: 'done',
    action: 'added',
  });
  expect(readServers(at.host, where)[0]!.value).toEqual({
    ...entry,
    tools: { x: { approval_mode: 'approve' } },
  });
  await installEntry({ location: at, name, entry: { ...entry, env_vars: ['B'] }, isOurs });
  expect(readServers(at.host, where)[0]!.value).toMatchObject({ env_vars: ['B', 'A'] });
  await uninstallEntry({ location: at, name, isOurs });
  expect(readServers(at.host, where)).toEqual([]);
});

test('the list of servers that may be used names the entry while it is there', async () => {
  const at = location('gemini', home());
  const before = '{"mcp": {"allowed": ["x"]}}';
  put(at, before);
  const allowed = (): unknown => JSON.parse(fs.readFileSync(at.file, 'utf8')).mcp.allowed;
  await installEntry({ location: at, name, entry: program('/sb'), isOurs });
  expect(allowed()).toEqual(['x', name]);
  // An empty list allows everything; adding a name would disable all others.
  put(at, '{"mcp": {"allowed": []}}');
  await installEntry({ location: at, name, entry: program('/sb'), isOurs });
  expect(allowed()).toEqual([]);
});

test('settings that a person has put beside our own stay when it is updated', async () => {
  const where = home();
  const at = location('copilot', where);
  const host = at.host;
  await installEntry({ location: at, name, entry: programEntry(host, program('/sb')), isOurs });
  expect(readServers(host, where)[0]!.value).toMatchObject({ tools: ['*'] });
  put(at, fs.readFileSync(at.file, 'utf8').replace('"*"', '"github_suite"'));
  await installEntry({ location: at, name, entry: programEntry(host, program('/sb2')), isOurs });
  expect(readServers(host, where)[0]!.value).toMatchObject({ command: '/sb2', tools: ['github_suite'] });
});

test('reports what keeps the host from using it', async () => {
  const at = location('gemini', home());
  put(at, '{"mcp": {"excluded": ["switchboard"]}}');
  const change = await installEntry({ location: at, name, entry: program('/sb'), isOurs });
  expect(change).toMatchObject({ obstacle: expect.stringContaining('mcp.excluded') as string });
});

test('a host is there once it has left more than an empty directory', async () => {
  const where = home();
  const host = findHost('windsurf');
  expect(isPresent(host, where)).toBe(false);
  const at = locationOf(host, 'user', where);
  await installEntry({ location: at, name, entry: program('/sb'), isOurs });
  expect(isPresent(host, where)).toBe(true);
  await uninstallEntry({ location: at, name, isOurs });
  expect(isPresent(host, where)).toBe(false);
});

test('of two files that a host may have, the one that is there is used', () => {
  const where = home();
  const small = join(where.home, '.config/claude/claude_desktop_config.json');
  expect(location('claude-desktop', where).file).toContain('/Claude/');
  fs.mkdirSync(dirname(small), { recursive: true });
  fs.writeFileSync(small, '{}');
  // On a case-insensitive file system, these two are the same.
  const { file } = location('claude-desktop', where);
  expect(fs.realpathSync.native(file)).toBe(fs.realpathSync.native(small));
  expect(() => location('claude-desktop', where, 'project')).toThrow('no configuration file per project');
});

test('the servers of Claude Code are those of the user, of its projects and of this one', () => {
  const where = home();
  put(
    location('claude-code', where),
    JSON.stringify({
      mcpServers: { a: { command: 'a' } },
      projects: {
        '/p/one': { mcpServers: { b: { command: 'b' } } },
        '/p/two': { mcpServers: {} },
        '/p/three': {},
      },
    }),
  );
  put(location('claude-code', where, 'project'), '{"mcpServers": {"c": {"command": "c"}}}');
  const seen = (scope?: Scope) =>
    readServers(findHost('claude-code'), where, scope).map((server) => [
      server.name,
      server.location.scope,
      server.location.project,
    ]);
  expect(seen()).toEqual([
    ['a', 'user', undefined],
    ['b', 'local', '/p/one'],
    ['c', 'project', where.cwd],
  ]);
  expect(seen('project')).toEqual([['c', 'project', where.cwd]]);
});
