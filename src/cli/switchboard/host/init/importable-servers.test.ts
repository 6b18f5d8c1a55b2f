import { expect, test } from 'vitest';
import { findHost, locationOf, type HostServer, type HostEnvironment } from '../../../../hosts/index.ts';
import { isOwnHere, importableServers, type ImportableServer } from './importable-servers.ts';

const where: HostEnvironment = { platform: 'linux', home: '/home/ada', env: {}, cwd: '/home/ada/shop' };
const at = (host: string, name: string, value: object, scope: 'user' | 'project' = 'user'): HostServer => ({
  location: locationOf(findHost(host), scope, where),
  name,
  value,
});
const local = (project: string, name: string, value: object): HostServer => ({
  location: {
    ...locationOf(findHost('claude-code'), 'user', where),
    scope: 'local',
    project,
    keyPath: ['projects', project, 'mcpServers'],
  },
  name,
  value,
});
const shown = ({ name, level, variants, differs }: ImportableServer): unknown => [
  name,
  level,
  variants.map(({ server }) => server.location.host.name),
  differs,
];

const github = (token: string): object => ({
  command: 'npx',
  args: ['-y', '@acme/github'],
  env: { GITHUB_TOKEN: token },
});

test('a server that several hosts have with other keys or time limits is offered once', () => {
  const { importable, unusable } = importableServers(
    [
      at('claude-code', 'memory', { command: 'memory' }),
      at('cursor', 'github', github('one')),
      at('cursor', 'memory', { command: '/usr/bin/memory', timeout: 5000 }),
      at('codex', 'github', github('two')),
      at('codex', 'odd', {}),
    ],
    where,
  );
  expect(importable.map(shown)).toEqual([
    ['memory', 'user', ['claude-code', 'cursor'], ['timeouts.rpcMs', 'command']],
    ['github', 'user', ['cursor', 'codex'], ['env.GITHUB_TOKEN']],
  ]);
  expect(unusable.map(({ server, why }) => [server.name, why])).toEqual([
    ['odd', 'it has no command and no URL'],
  ]);
});

test('one whose variables are set comes before one whose are not', () => {
  const servers = [at('cursor', 'github', github('${env:GH}')), at('codex', 'github', github('literal'))];
  const first = (env: HostEnvironment['env']): string =>
    importableServers(servers, { ...where, env }).importable[0]!.variants[0].server.location.host.name;
  expect([first({}), first({ GH: 'set' })]).toEqual(['codex', 'cursor']);
});

test("two of one host stay two, and a project's own stays the project's", () => {
  const { importable } = importableServers(
    [
      at('cursor', 'files', { command: 'files' }),
      at('cursor', 'Files', { command: 'files' }),
      at('cursor', 'files', { command: 'files' }, 'project'),
    ],
    where,
  );
  expect(importable.map(({ name, level }) => [name, level])).toEqual([
    ['files', 'user'],
    ['Files', 'user'],
    ['files', 'project'],
  ]);
});

test('the variant to use is one that is switched on and meant for everywhere', () => {
  const { importable } = importableServers(
    [
      local('/home/ada/shop', 'a', { command: 'a' }),
      at('cursor', 'a', { command: 'a', disabled: true }),
      at('codex', 'a', { command: 'a' }),
      local('/home/ada/other', 'b', { command: 'b' }),
      local('/home/ada/shop', 'c', { command: 'c' }),
    ],
    where,
  );
  expect(importable.map(({ variants: [{ server }] }) => [server.name, server.location.host.name])).toEqual([
    ['a', 'codex'],
    ['b', 'claude-code'],
    ['c', 'claude-code'],
  ]);
  // Those of other projects can be chosen, but are not chosen by default.
  expect(importable.map((importable) => isOwnHere(importable, where))).toEqual([true, false, true]);
});
