import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { loadConfig, type ServerDefinition } from '../config/index.ts';
import { checkConfiguredServer, type ServerCheck } from './check-server.ts';

async function define(server: object): Promise<ServerDefinition> {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { s: server } } });
  const { servers } = await loadConfig({ cwd: project.dir, env: { TOKEN: 's3cret' } });
  return servers[0]!;
}

async function check(server: object): Promise<ServerCheck> {
  return checkConfiguredServer(await define(server), { exposure: 'suite' }, undefined, process.env);
}

const headers = { Authorization: 'Bearer ${TOKEN}', 'X-A': 'b' };

test('of a remote server, address, transport and header names are reported', async () => {
  const found = await check({ url: 'https://${TOKEN:-x}.test/mcp?a=b', headers });
  expect(found).toMatchObject({
    kind: 'remote',
    ok: true,
    command: '',
    args: [],
    url: 'https://${TOKEN:-x}.test/mcp?a=***',
    transport: 'auto',
    headers: ['Authorization', 'X-A'],
    isolation: 'session',
    problems: [],
    cautions: [],
  });
  expect(JSON.stringify(found)).not.toContain('s3cret');
});

test.each(['http://x.test/mcp', 'http://10.0.0.1/', 'http://127.0.0.1.x.test/', 'http://localhost.x.test/'])(
  'headers to %s can be read on the way',
  async (url) => {
    const { ok, cautions } = await check({ url, headers });
    expect([ok, cautions.length]).toEqual([true, 1]);
    expect(cautions[0]!.message).toContain('unencrypted');
    expect((await check({ url })).cautions).toEqual([]);
  },
);

test.each([
  'https://x.test',
  'http://localhost:1',
  'http://127.0.0.1',
  'http://127.1.2.3',
  'http://[::1]:80',
])('headers to %s cannot', async (url) => {
  expect((await check({ url, headers })).cautions).toEqual([]);
});

test('of a program, missing parts are reported', async () => {
  expect(await check({ command: process.execPath, args: ['--version'] })).toMatchObject({
    kind: 'stdio',
    ok: true,
    program: process.execPath,
    problems: [],
  });
  const { ok, problems } = await check({ command: 'no-such-program-anywhere' });
  expect([ok, problems[0]?.message]).toEqual([
    false,
    'command not found on its PATH: "no-such-program-anywhere"',
  ]);
});
