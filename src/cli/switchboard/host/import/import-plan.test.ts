import { expect, test } from 'vitest';
import { findHost, locationOf, type HostServer, type HostEnvironment } from '../../../../hosts/index.ts';
import { parseJsonc } from '../../../../shared/jsonc.ts';
import { planImport, type ImportOptions, neededVariables, variablesText } from './import-plan.ts';

const where: HostEnvironment = { platform: 'linux', home: '/home/ada', env: {}, cwd: '/home/ada/shop' };
const options: ImportOptions = {
  where,
  directory: '/home/ada/shop',
  elsewhere: new Map(),
  hidesSecrets: false,
  takesOver: false,
};
const server = (host: string, name: string, value: unknown, project?: string): HostServer => ({
  location: { ...locationOf(findHost(host), 'user', where), project },
  name,
  value,
});
const states = (text: string, found: readonly HostServer[], more: Partial<ImportOptions> = {}): unknown =>
  planImport(text, found, { ...options, ...more }).servers.map(({ as, state }) => [as, state]);
const serversOf = (text: string): unknown => (parseJsonc(text) as { mcpServers: unknown }).mcpServers;

test('a server is new, or there already, or gets another name; doing it again changes nothing', () => {
  const found = [
    server('cursor', 'a', { command: 'a' }),
    server('vscode', 'a', { type: 'stdio', command: 'a' }),
    server('windsurf', 'a', { command: 'other' }),
    server('gemini', 'a', { command: 'third' }),
    server('gemini', 'a', { command: 'fourth' }),
    server('cursor', 'bad', {}),
  ];
  const { servers, after } = planImport(
    '{ "mcpServers": { "z": { "command": "z" } } } // mine\n',
    found,
    options,
  );
  expect(servers.map(({ as, state }) => [as, state])).toEqual([
    ['a', 'new'],
    ['a', 'same'],
    ['a-windsurf', 'clash'],
    ['a-gemini', 'clash'],
    ['a-gemini-2', 'clash'],
    ['bad', 'unusable'],
  ]);
  expect(serversOf(after)).toEqual({
    z: { command: 'z' },
    a: { command: 'a' },
    'a-windsurf': { command: 'other' },
    'a-gemini': { command: 'third' },
    'a-gemini-2': { command: 'fourth' },
  });
  expect(after).toContain('// mine');
  const again = planImport(after, found, options);
  expect(again.after).toBe(after);
  expect(again.servers.map(({ state }) => state)).toEqual([
    'same',
    'same',
    'same',
    'same',
    'same',
    'unusable',
  ]);
});

test('how a server is shown may differ, and it is still the same', () => {
  const text =
    '{"mcpServers": {"a": {"type": "stdio", "command": "a", "exposure": "flat", "description": "mine"}}}';
  expect(states(text, [server('cursor', 'a', { command: 'a' })])).toEqual([['a', 'same']]);
  expect(states(text, [server('cursor', 'a', { command: 'a', args: ['b'] })])).toEqual([
    ['a-cursor', 'clash'],
  ]);
});

test('names become such as go before those of tools', () => {
  const found = ['My Files', 'a__b', 'x_', '💥', 'a'.repeat(80)].map((name) =>
    server('claude-desktop', name, { command: name }),
  );
  expect(states('{}', found)).toEqual([
    ['My-Files', 'new'],
    ['a_b', 'new'],
    ['x', 'new'],
    ['server', 'new'],
    ['a'.repeat(44), 'new'],
  ]);
});

test('a server of a project is started there', () => {
  const { after } = planImport(
    '{}',
    [
      server('claude-code', 'here', { command: 'a' }, '/home/ada/shop'),
      server('claude-code', 'there', { command: 'a' }, '/home/ada/other'),
    ],
    options,
  );
  expect(serversOf(after)).toEqual({
    here: { command: 'a' },
    there: { command: 'a', cwd: '/home/ada/other' },
  });
});

test('a name that another file defines is taken, unless that is the very file', () => {
  const found = server('claude-code', 'a', { command: 'a' });
  expect(states('{}', [found], { elsewhere: new Map([['a', '/other/.mcp.json']]) })).toEqual([
    ['a-claude-code', 'clash'],
  ]);
  const own = new Map([['a', found.location.file]]);
  expect(states('{}', [found], { elsewhere: own })).toEqual([['a', 'same']]);
  // If it were removed from that file, it would be nowhere.
  expect(states('{}', [found], { elsewhere: own, takesOver: true })).toEqual([['a', 'new']]);
});

test('secrets stay, or become variables with one value each', () => {
  const found = [
    server('cursor', 'a', { command: 'a', args: ['--token', 'one'], env: { API_KEY: 'k1', DEBUG: '1' } }),
    server('codex', 'b', { command: 'b', env: { API_KEY: 'k2' } }),
    server('vscode', 'c', { command: 'c', env: { API_KEY: 'k1', X: '${env:Y}' } }),
  ];
  const kept = planImport('{}', found, options);
  expect(serversOf(kept.after)).toMatchObject({ a: { args: ['--token', 'one'], env: { API_KEY: 'k1' } } });
  const { servers, after } = planImport('{}', found, { ...options, hidesSecrets: true });
  expect(serversOf(after)).toEqual({
    a: { command: 'a', args: ['--token', '${A_TOKEN}'], env: { API_KEY: '${API_KEY}', DEBUG: '1' } },
    b: { command: 'b', env: { API_KEY: '${API_KEY_CODEX}' } },
    c: { command: 'c', env: { API_KEY: '${API_KEY}', X: '${Y}' } },
  });
  // Servers that were imported with or without their secrets count as the same.
  for (const text of [after, kept.after])
    for (const hidesSecrets of [true, false])
      expect(states(text, found, { hidesSecrets })).toEqual([
        ['a', 'same'],
        ['b', 'same'],
        ['c', 'same'],
      ]);
  const needed = neededVariables(servers, { API_KEY: 'k1', A_TOKEN: 'another', API_KEY_CODEX: undefined });
  expect(needed.map(({ name, servers: users, state }) => [name, users, state])).toEqual([
    ['API_KEY', ['a', 'c'], 'set'],
    ['API_KEY_CODEX', ['b'], 'unset'],
    ['A_TOKEN', ['a'], 'other'],
    ['Y', ['c'], 'unset'],
  ]);
  const text = variablesText(needed);
  expect(text).toBe(
    'Set these variables where the gateway is started:\n' +
      "  API_KEY_CODEX: for b, whose value was in the host's file\n" +
      "  A_TOKEN: for a, whose value was in the host's file (set to a different value here)\n" +
      '  Y: for c\n',
  );
  expect(JSON.stringify(needed)).not.toMatch(/k1|k2|"one"/);
});

test('one that is there with another key or time limit differs, and stays as it is', () => {
  const there = { command: 'npx', args: ['-y', 'gh'], env: { GH_TOKEN: '${GH_TOKEN}' } };
  const text = JSON.stringify({ mcpServers: { gh: there, odd: { command: 'odd', args: 7 } } });
  const found = [
    server('cursor', 'gh', { command: 'npx', args: ['gh'], env: { GH_TOKEN: 'a-secret' }, timeout: 5000 }),
    server('codex', 'gh', { command: 'npx', args: ['-y', 'gh', '--read-only'] }),
    server('cursor', 'odd', { command: 'odd' }),
  ];
  const { servers, after } = planImport(text, found, options);
  expect(servers.map(({ as, state }) => [as, state])).toEqual([
    ['gh', 'differs'],
    ['gh-codex', 'clash'],
    ['odd-cursor', 'clash'],
  ]);
  expect(servers[0]!.notes.join()).toContain('env.GH_TOKEN');
  expect(servers[0]!.notes.join()).not.toContain('a-secret');
  expect(serversOf(after)).toMatchObject({ gh: there });
});

test('one that differs only in a time limit or in being off is not called the same', () => {
  const text = JSON.stringify({ mcpServers: { a: { command: 'a' } } });
  const found = server('cursor', 'a', { command: 'a', disabled: true });
  expect(states(text, [found])).toEqual([['a', 'differs']]);
});

test('a preferred one replaces how it is reached and keeps how it is exposed', () => {
  const there = { command: 'npx', args: ['gh'], env: { GH_TOKEN: 'old-secret' }, exposure: 'flat' };
  const text = JSON.stringify({ mcpServers: { gh: there } });
  const found = server('codex', 'gh', { command: 'npx', args: ['gh'], env: { GH_TOKEN: 'new-secret' } });
  const { servers, after } = planImport(text, [found], { ...options, replaces: () => true });
  expect(servers[0]!.state).toBe('updated');
  expect(serversOf(after)).toEqual({ gh: { ...there, env: { GH_TOKEN: 'new-secret' } } });
});

test('the same program with the same keys is there, whatever its name', () => {
  const entry = { command: 'npx', args: ['-y', 'gh'], env: { GH_TOKEN: 'a-secret' } };
  const text = JSON.stringify({ mcpServers: { github: entry } });
  const { servers, after } = planImport(text, [server('codex', 'gh', entry)], options);
  expect(servers[0]).toMatchObject({ as: 'github', state: 'same', notes: ['exists as github'] });
  expect(after).toBe(text);
  const other = { ...entry, env: { GH_TOKEN: 'of another account' } };
  expect(states(text, [server('codex', 'gh', other)])).toEqual([['gh', 'new']]);
  // A host that has a server twice has it twice on purpose.
  const twice = [server('codex', 'one', entry), server('codex', 'two', entry)];
  expect(states('{}', twice)).toEqual([
    ['one', 'new'],
    ['two', 'new'],
  ]);
});

test('a dotenv file below the configuration is named as others can find it', () => {
  const envFileIn = (envFile: string): unknown => {
    const found = [server('vscode', 'a', { command: 'a', envFile }, '/home/ada/shop')];
    const { after } = planImport('{}', found, options);
    return (serversOf(after) as { a: { envFile: string } }).a.envFile;
  };
  expect(envFileIn('${workspaceFolder}/conf/.env')).toBe('conf/.env');
  expect(envFileIn('/etc/x.env')).toBe('/etc/x.env');
});
