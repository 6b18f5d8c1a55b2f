import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { testYard } from '../../../../test/helpers/yard-home.ts';
import { yardRepository } from '../../../../test/helpers/yard-repository.ts';
import { LocalClient, type Source } from '../../../gateway/index.ts';
import { silentLogger } from '../../../shared/log.ts';
import { createYardSource } from './source.ts';

const NAMES = [
  'doctor',
  'status',
  'create',
  'list',
  'brief',
  'where',
  'logs',
  'up',
  'checkout',
  'uncheckout',
  'down',
];

function sourceAt(directory: string, env: NodeJS.ProcessEnv): Source {
  return createYardSource({ name: 'yard', project: { directory }, env, log: silentLogger });
}

function caller(source: Source) {
  const client = new LocalClient();
  return {
    call: (name: string, args: object = {}): Promise<any> =>
      client.request(source, 'tools/call', { name: `switchyard_${name}`, arguments: { ...args } }),
    ask: (method: string, params: object): Promise<any> => client.request(source, method, { ...params }),
  };
}

test('it lists eleven tools with annotations, three resources and two prompts', async () => {
  const yard = yardRepository();
  const source = sourceAt(yard.root, yard.env);
  const tools = (await source.list('tools')).components.map(({ value }) => value as any);
  expect(tools.map(({ name }) => name)).toEqual(NAMES.map((name) => `switchyard_${name}`));
  const hints = Object.fromEntries(
    tools.map(({ name, annotations: a }) => [
      name.replace('switchyard_', ''),
      [a.readOnlyHint, a.destructiveHint, a.idempotentHint, a.openWorldHint]
        .map((hint) => (hint ? 'T' : 'F'))
        .join(''),
    ]),
  );
  expect(hints).toEqual({
    ...{ doctor: 'TFTF', status: 'TFTF', list: 'TFTF', brief: 'TFTF', where: 'TFTF', logs: 'TFTF' },
    ...{ create: 'FTFF', up: 'FTTT', checkout: 'FFTF', uncheckout: 'FTFF', down: 'FTFF' },
  });
  for (const { title, description, inputSchema, outputSchema } of tools) {
    expect(title).not.toBe('');
    expect(description).not.toContain('\n');
    expect(inputSchema.additionalProperties).toBe(false);
    expect(inputSchema.properties.cwd.description).toMatch(
      /registered worktree.*defaults to the server launch cwd/,
    );
    expect(outputSchema.type).toBe('object');
  }
  for (const name of ['status', 'uncheckout', 'down']) {
    const { inputSchema } = tools.find((tool) => tool.name === `switchyard_${name}`);
    expect(inputSchema.properties.branch.description).toMatch(/registered worktree branch.*project root/);
  }
  expect((await source.list('resources')).components.map(({ key }) => key)).toEqual([
    'switchyard://project/brief',
    'switchyard://project/doctor',
    'switchyard://agent/guide',
  ]);
  expect((await source.list('prompts')).components.map(({ key }) => key)).toEqual([
    'switchyard_runtime_handoff',
    'switchyard_branch_runtime',
  ]);
  expect((await source.list('resourceTemplates')).components).toEqual([]);
});

test('the instructions name everything an agent should know', () => {
  const text = sourceAt('/', {}).about()?.instructions;
  for (const word of [
    ...['switchyard://project/brief', 'configured_services', 'configured_profiles', 'env_warnings'],
    ...['switchyard_runtime_handoff', 'where', 'logs', 'create', 'up', 'checkout', 'uncheckout', 'down'],
  ])
    expect(text).toContain(word);
});

test('read-only tools create no state', async () => {
  const yard = yardRepository();
  const source = sourceAt(yard.root, yard.env);
  const { call, ask } = caller(source);
  for (const name of ['doctor', 'status', 'list', 'brief']) expect((await call(name)).isError).toBe(false);
  for (const [name, args] of [
    ['where', { service: 'web' }],
    ['logs', { service: 'web' }],
  ] as const)
    expect((await call(name, args)).isError).toBe(true);
  for (const { key } of (await source.list('resources')).components) {
    const { contents } = await ask('resources/read', { uri: key });
    expect(contents).toEqual([
      {
        uri: key,
        mimeType: key.includes('guide') ? 'text/markdown' : 'application/json',
        text: expect.any(String),
      },
    ]);
  }
  await ask('prompts/get', { name: 'switchyard_runtime_handoff' });
  expect(existsSync(yard.home)).toBe(false);
});

test('the results of read-only tools match their schemas', async () => {
  const yard = await testYard();
  const { context } = yard;
  await yard.start(
    'current',
    'web',
    'require("http").createServer().listen(+process.env.PORT, "127.0.0.1", () => console.error("an error line"))',
  );
  const source = sourceAt(context.config.root, context.env);
  const { call } = caller(source);
  const ajv = new Ajv2020();
  const results = {
    doctor: await call('doctor'),
    status: await call('status'),
    list: await call('list'),
    brief: await call('brief'),
    where: await call('where', { service: 'web' }),
    logs: await call('logs', { grep: 'an error', since: '1h', max_bytes: 100 }),
  };
  for (const [name, result] of Object.entries(results)) {
    const { outputSchema } = (await source.list('tools')).byKey.get(`switchyard_${name}`)!.value as any;
    const isValid = ajv.compile(outputSchema);
    expect(isValid(result.structuredContent), `${name}: ${JSON.stringify(isValid.errors)}`).toBe(true);
    expect(result.isError).toBe(false);
    if (name !== 'logs') expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
  }
  const { status, where, logs } = results;
  expect(status.structuredContent.services).toMatchObject([
    { service: 'web', status: 'running', ready: true },
  ]);
  expect(JSON.stringify([status, where])).not.toContain('cookie');
  expect(where.structuredContent).toMatchObject({ service: 'web', listener: { verified: true } });
  expect(logs.structuredContent.logs).toMatchObject([{ lines: ['an error line'], truncated: false }]);
  expect(logs.content[0].text).toBe('an error line');
});

test('secrets of env files are masked in all that comes from logs', async () => {
  const yard = await testYard();
  const { context } = yard;
  const { root } = context.config;
  writeFileSync(join(root, '.env'), 'SHOP_TOKEN=tok-1234567890\n');
  const script =
    'console.error("Error: " + ["tok", 1234567890].join("-") + " is wrong"); require("http").createServer().listen(+process.env.PORT, "127.0.0.1")';
  await yard.start('current', 'web', script);
  const { call } = caller(sourceAt(root, context.env));
  for (const [name, args] of [
    ['logs', {}],
    ['status', {}],
    ['where', { service: 'web' }],
    ['brief', {}],
  ] as const) {
    const text = JSON.stringify(await call(name, args));
    expect(text, name).toContain('Error: *** is wrong');
    expect(text, name).not.toContain('tok-1234567890');
  }
  // It cannot be guessed piece by piece, either.
  expect((await call('logs', { grep: 'tok-1' })).structuredContent.logs[0].lines).toEqual([]);
});

test('a failed tool call is a result without structured content', async () => {
  const yard = yardRepository();
  const { call } = caller(sourceAt(yard.root, yard.env));
  const refused = async (name: string, args: object): Promise<string> => {
    const result = await call(name, args);
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toBeUndefined();
    return result.content[0].text;
  };
  expect(await refused('status', { brnch: 'x' })).toBe(
    'unexpected argument(s): brnch\nDid you mean "branch"?',
  );
  expect(await refused('status', { cwd: 5 })).toBe('cwd must be a string');
  expect(await refused('status', { cwd: '..' })).toContain('cwd must stay under MCP server root');
  expect(await refused('where', {})).toBe('service is required');
  expect(await refused('where', { service: 'web' })).toContain('web is not running for main');
  expect(await refused('logs', { service: 'web' })).toContain('No matching logs.');
  expect(await refused('logs', { since: 'yesterday' })).toContain('since must be a duration or a time');
  expect(await refused('logs', { lines: 301 })).toBe('lines must be between 1 and 300');
  expect(await refused('up', { services: ['nobody'] })).toContain('Unknown service(s): nobody.');
  expect(await refused('up', { profile: 'nobody' })).toContain('Unknown profile: nobody.');
  expect(await refused('up', { branch: 'none' })).toContain('The worktree does not exist');
  expect(existsSync(yard.home)).toBe(false);
});

test('an invalid request is an error, not a result', async () => {
  const yard = yardRepository();
  const { call, ask } = caller(sourceAt(yard.root, yard.env));
  await expect(call('nothing')).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
  await expect(ask('tools/call', { name: 3 })).rejects.toMatchObject({ message: 'name must be a string' });
  await expect(ask('resources/read', {})).rejects.toMatchObject({ message: 'uri must be a string' });
  await expect(ask('resources/read', { uri: 'switchyard://x' })).rejects.toMatchObject({
    message: 'Unknown resource: switchyard://x',
  });
  await expect(ask('prompts/get', { name: 'x' })).rejects.toMatchObject({ message: 'unknown prompt: x' });
  await expect(ask('resources/subscribe', { uri: 'switchyard://project/brief' })).rejects.toMatchObject({
    code: 'METHOD_UNKNOWN',
  });
});

test('an unreadable project fails each call with the reason, and works once it is fixed', async () => {
  const yard = yardRepository({ config: '[project\n' });
  const { call, ask } = caller(sourceAt(yard.root, yard.env));
  expect((await call('brief')).content[0].text).toContain('switchyard.toml:1');
  await expect(ask('resources/read', { uri: 'switchyard://project/brief' })).rejects.toThrow(
    'switchyard.toml',
  );
  expect((await ask('resources/read', { uri: 'switchyard://agent/guide' })).contents).toHaveLength(1);
  writeFileSync(join(yard.root, 'switchyard.toml'), '[services.web]\ncommand = "a"\n');
  expect((await call('brief')).structuredContent.configured_services).toEqual(['web']);
});

test('with a broken file, running services can still be seen and stopped, with a warning', async () => {
  const yard = await testYard();
  const { config, env } = yard.context;
  await yard.start('current', 'web', 'require("http").createServer().listen(+process.env.PORT, "127.0.0.1")');
  const { call } = caller(sourceAt(config.root, env));
  expect((await call('status')).content).toHaveLength(1);
  writeFileSync(config.file, '[project\n');
  expect((await call('up')).isError).toBe(true);
  const seen = await call('status');
  expect(seen.structuredContent.services).toMatchObject([{ service: 'web', status: 'running' }]);
  expect(seen.content[1].text).toMatch(/^warning: .*switchyard.toml:1/);
  const stopped = await call('down');
  expect(stopped).toMatchObject({
    isError: false,
    structuredContent: { branch: null, messages: ['stopped web'] },
  });
  expect((await call('status')).structuredContent.services).toEqual([]);
});

test('a log outside the log directory in a tampered record is not read', async () => {
  const yard = await testYard();
  const secret = join(yard.context.config.root, 'secret.txt');
  writeFileSync(secret, 'an error that is a secret\n');
  await yard.record({ branch: 'current', service: 'web', port: 20_001, log_file: secret });
  const { call } = caller(sourceAt(yard.context.config.root, yard.context.env));
  const result = await call('logs', { service: 'web' });
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toContain('The log is outside the log directory of Switchyard');
  expect(JSON.stringify([await call('status'), await call('brief')])).not.toContain('is a secret');
});

test('made in a worktree and listed, twice without harm', async () => {
  const yard = yardRepository();
  const { call } = caller(sourceAt(yard.root, yard.env));
  const made = await call('create', { branch: 'feature/x' });
  expect(made.structuredContent).toMatchObject({ created: true, branch: 'feature/x', env: [] });
  const again = await call('create', { branch: 'feature/x' });
  expect(again.structuredContent).toMatchObject({ created: false, message: 'worktree already registered' });
  const clash = await call('create', { branch: 'feature-x' });
  expect(clash.content[0].text).toContain('collide after slugging');
  expect((await call('list')).structuredContent.worktrees).toMatchObject([{ branch: 'feature/x' }]);
  const { worktree } = made.structuredContent;
  expect((await call('brief', { cwd: worktree })).structuredContent.branch).toBe('feature/x');
  expect((await call('brief')).structuredContent.branch).toBe(null);
  const inside = caller(sourceAt(worktree, yard.env));
  expect((await inside.call('brief')).structuredContent.branch).toBe('feature/x');
});

test('an empty result for an unknown branch says that the branch does not exist', async () => {
  const yard = yardRepository();
  const { call } = caller(sourceAt(yard.root, yard.env));
  for (const name of ['status', 'brief']) {
    const { content, isError } = await call(name, { branch: 'mian' });
    expect(isError).toBe(false);
    expect(content[1].text).toContain('No worktree found for branch "mian". Did you mean "main"?');
    expect((await call(name, { branch: 'main' })).content).toHaveLength(1);
  }
});

test('it runs from the start, without a process, until it is closed', async () => {
  const yard = yardRepository();
  const source = sourceAt(yard.root, yard.env);
  expect(source.state).toMatchObject({ kind: 'running', pid: undefined });
  await source.close();
  expect(source.state).toEqual({ kind: 'stopped' });
  await expect(caller(source).call('brief')).rejects.toMatchObject({ code: 'SERVER_STOPPED' });
});
