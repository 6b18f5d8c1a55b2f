import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { loadConfig, type ServerDefinition } from '../../../config/index.ts';
import { checkConfiguredServer, type ServerCheck, languageProblems, modelLine } from './check-server.ts';
import { resolveModel } from '../../../language/index.ts';
import { redactCommand } from '../../../config/index.ts';

async function define(server: object): Promise<ServerDefinition> {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { s: server } } });
  const { servers } = await loadConfig({ cwd: project.dir, env: { TOKEN: 's3cret' } });
  return servers[0]!;
}

const NOTHING_KNOWN = { since: undefined, tools: [], overflow: false, problem: undefined };

async function check(server: object): Promise<ServerCheck> {
  const definition = await define(server);
  const command = redactCommand(definition);
  return checkConfiguredServer(
    { server: definition, presentation: { exposure: 'suite' }, command },
    { env: process.env, review: NOTHING_KNOWN, program: 'switchboard' },
  );
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
  expect([ok, problems[0]?.message]).toEqual([false, 'command not found: "no-such-program-anywhere"']);
});

async function looked(language: object | true, env: Record<string, string> = {}, files: object = {}) {
  const entry = { command: 'node', language };
  const project = createProject({ 'switchboard.config.json': { mcpServers: { s: entry } }, ...files });
  const server: ServerDefinition = (await loadConfig({ cwd: project.dir, env })).servers[0]!;
  const model = await resolveModel(server.language!, env);
  const problems = languageProblems(server, { exposure: 'suite', language: model });
  return { line: modelLine(model), problems, dir: project.dir };
}

test.each<[string, object | true, Record<string, string>, string]>([
  ['a key is set', true, { ANTHROPIC_API_KEY: 'sk-123456' }, 'claude-haiku-5-5 (anthropic)'],
  ['another one is named', { model: 'm', apiKey: 'k-123456' }, {}, 'm (openai)'],
  ['one runs on this machine', { model: 'm', baseUrl: 'http://localhost:1' }, {}, 'm (openai)'],
  ['there is no key', true, {}, "the client's own: the client must support sampling with tools"],
])('the model is told where %s', async (_, language, env, line) => {
  expect(await looked(language, env)).toMatchObject({ line, problems: [] });
});

test('a model without the key it needs is a problem, with what to set', async () => {
  const { line, problems } = await looked({ model: 'claude-opus-4-5' });
  expect(line).toBe('none');
  expect(problems).toEqual([
    { message: expect.stringContaining('No API key'), hint: expect.stringContaining('ANTHROPIC_API_KEY') },
  ]);
});

test('instructions that cannot be read are a problem', async () => {
  const env = { ANTHROPIC_API_KEY: 'sk-123456' };
  const language = { instructionsFile: 'CLAUDE.md' };
  const { problems, dir } = await looked(language, env);
  expect(problems).toEqual([
    {
      message: `cannot read the instructions of its model, ${join(dir, 'CLAUDE.md')}`,
      hint: 'Create that file, or correct "instructionsFile".',
    },
  ]);
  expect((await looked(language, env, { 'CLAUDE.md': 'Be kind.' })).problems).toEqual([]);
});
