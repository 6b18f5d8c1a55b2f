import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { compareServers, loadConfig, type ServerDefinition } from './index.ts';

const entry = {
  command: 'node',
  args: ['a.js'],
  env: { A: '1', B: '2' },
  exposedTools: ['a*', { original: 'b', exposed: 'c' }],
  tools: { t: { presets: { key: 'value', other: [1] }, redact: ['x'] } },
};

async function define(
  server: object,
  rest: object = {},
  env: Record<string, string> = {},
): Promise<ServerDefinition> {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { s: { ...('url' in server ? {} : { cwd: '/' }), ...server } },
      ...rest,
    },
  });
  const { servers, warnings } = await loadConfig({ cwd: project.dir, env });
  expect(warnings).toEqual([]);
  return servers[0]!;
}

test.each<[string, object, object?]>([
  ['in another file', entry],
  ['with variables in another order', { ...entry, env: { B: '2', A: '1' } }],
  [
    'with what is the default anyway',
    { ...entry, framing: 'auto', offer: ['tools', 'resources', 'prompts'] },
  ],
  ['with the same said elsewhere', { ...entry, tools: {} }, { suites: { s: { tools: entry.tools } } }],
])('%s it is the same', async (_, server, rest) => {
  expect(compareServers(await define(entry), await define(server, rest))).toBe('same');
});

test.each<[string, object, object?]>([
  ['command', { ...entry, command: 'deno' }],
  ['arguments', { ...entry, args: ['b.js'] }],
  ['directory', { ...entry, cwd: '/tmp' }],
  ['environment', { ...entry, env: { A: '1' } }],
  ['value of a variable', { ...entry, env: { A: '1', B: '3' } }],
  ['inherited environment', entry, { inheritEnv: false }],
  ['framing', { ...entry, framing: 'newline' }],
  ['time limits', entry, { timeouts: { rpcMs: 5 } }],
  ['isolation', { ...entry, isolation: 'shared' }],
  ['kind', { url: 'http://x' }],
  ['language', { ...entry, language: true }],
  ['command and looks', { ...entry, command: 'deno', exposure: 'hidden' }],
])('another %s needs another process', async (_, server, rest) => {
  expect(compareServers(await define(entry), await define(server, rest))).toBe('process');
});

test.each<[string, object, object?]>([
  ['exposure', { ...entry, exposure: 'hidden' }],
  ['naming', entry, { naming: 'plain' }],
  ['offer', entry, { offer: ['tools'] }],
  ['list of tools', { ...entry, exposedTools: ['a*'] }],
  [
    'pattern that was a name',
    { ...entry, exposedTools: ['a*', 'b'], tools: { ...entry.tools, b: { name: 'c' } } },
  ],
  ['hidden tool', { ...entry, hiddenTools: ['z'] }],
  ['name of a tool', { ...entry, tools: { t: { ...entry.tools.t, name: 'new' } } }],
  ['preset', { ...entry, tools: { t: { presets: { key: 'other', other: [1] }, redact: ['x'] } } }],
  ['suite', entry, { suites: { s: { suiteName: 'mine' } } }],
  ['introspection', entry, { introspection: { mode: 'full' } }],
  ['description', { ...entry, description: 'What it is for.' }],
  ['description of the suite', { ...entry, switchboardDescription: 'All of it.' }],
])('another %s changes its looks only', async (_, server, rest) => {
  expect(compareServers(await define(entry), await define(server, rest))).toBe('presentation');
});

const spoken = { ...entry, language: { model: 'm', apiKey: '${KEY}' } };

test.each<[string, object, Record<string, string>?]>([
  ['model', { ...spoken, language: { model: 'n', apiKey: '${KEY}' } }],
  ['key', spoken, { KEY: 'another' }],
  ['limit', { ...spoken, language: { ...spoken.language, maxSteps: 3 } }],
  ['list of tools', { ...spoken, hiddenTools: ['z'] }],
  ['purpose', { ...spoken, description: 'What it is for.' }],
])('another %s of a language model needs another process', async (_, server, env = { KEY: 'key' }) => {
  const before = await define(spoken, {}, { KEY: 'key' });
  expect(compareServers(before, await define(spoken, {}, { KEY: 'key' }))).toBe('same');
  expect(compareServers(before, await define(server, {}, env))).toBe('process');
});

const remote = {
  url: 'https://x.test/mcp',
  headers: { 'X-A': '1', Authorization: 'Bearer ${TOKEN}' },
  oauth: { scope: 'read' },
};
const TOKEN = { TOKEN: 'abc' };

test.each<[string, object]>([
  ['in another file', remote],
  ['with headers in another order', { ...remote, headers: { Authorization: 'Bearer ${TOKEN}', 'X-A': '1' } }],
  ['with what is the default anyway', { ...remote, type: 'auto', isolation: 'session' }],
])('%s a server elsewhere is the same', async (_, server) => {
  expect(compareServers(await define(remote, {}, TOKEN), await define(server, {}, TOKEN))).toBe('same');
});

test.each<[string, object, Record<string, string>?]>([
  ['address', { ...remote, url: 'https://x.test/other' }],
  ['transport', { ...remote, type: 'sse' }],
  ['header', { ...remote, headers: {} }],
  ['value of a header', remote, { TOKEN: 'other' }],
  ['login', { ...remote, oauth: { scope: 'write' } }],
  ['login, which is none,', { ...remote, oauth: false }],
  ['isolation', { ...remote, isolation: 'shared' }],
  ['kind', entry],
])('another %s needs another connection', async (_, server, env = TOKEN) => {
  expect(compareServers(await define(remote, {}, TOKEN), await define(server, {}, env))).toBe('process');
});

const exchange = {
  grant: 'token_exchange',
  assertion: 'a.b.c',
  identityProvider: { tokenEndpoint: 'https://id.test/token', clientId: 'us', clientSecret: 's' },
};

test.each<[string, object]>([
  ['key', { ...exchange, dpop: 'required' }],
  ['grant', { ...exchange, grant: 'jwt_bearer' }],
  ['assertion', { ...exchange, assertion: 'd.e.f' }],
  ...Object.keys(exchange.identityProvider).map((key): [string, object] => [
    `${key} at the identity provider`,
    { ...exchange, identityProvider: { ...exchange.identityProvider, [key]: 'https://other.test' } },
  ]),
])('a login of a service with another %s needs another connection', async (_, oauth) => {
  const before = await define({ url: 'https://x.test/mcp', oauth: exchange });
  expect(compareServers(before, await define({ url: 'https://x.test/mcp', oauth: exchange }))).toBe('same');
  expect(compareServers(before, await define({ url: 'https://x.test/mcp', oauth }))).toBe('process');
});

test('what a user is asked about, at least, and pins are part of its source', async () => {
  const before = { ...(await define(entry)), approval: { which: 'none', tools: new Map() } } as const;
  const { approval } = before;
  expect(compareServers(before, { ...before, approval: { ...approval, atLeast: approval } })).toBe('process');
  expect(compareServers(before, { ...before, pin: 'block' })).toBe('process');
});

test('an address written differently, and looks, are only shown differently', async () => {
  const before = await define(remote, {}, TOKEN);
  const referring = { ...remote, url: 'https://${HOST}/mcp' };
  expect(compareServers(before, await define(referring, {}, { ...TOKEN, HOST: 'x.test' }))).toBe(
    'presentation',
  );
  expect(compareServers(before, await define({ ...remote, exposure: 'hidden' }, {}, TOKEN))).toBe(
    'presentation',
  );
});

test('a reference with the same value changes the text of a definition, but not what runs', async () => {
  const referring = { ...entry, args: ['${SCRIPT}'] };
  expect(compareServers(await define(entry), await define(referring, {}, { SCRIPT: 'a.js' }))).toBe(
    'presentation',
  );
  expect(compareServers(await define(entry), await define(referring, {}, { SCRIPT: 'b.js' }))).toBe(
    'process',
  );
});

test('shown flat, a server is kept running, which needs no other process', async () => {
  const flat = { ...entry, exposure: 'flat' };
  expect(compareServers(await define(entry), await define(flat))).toBe('presentation');
  const kept = { timeouts: { idleMs: 'never' } };
  expect(compareServers(await define(entry, kept), await define(flat, kept))).toBe('presentation');
});
