import { existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import type { RawClient } from '../helpers/raw-client.ts';
import { createYard, SWITCHYARD } from '../helpers/yard.ts';
import { agentYard, Schemas, speaker, type AgentYard } from '../helpers/yard-agent.ts';
import { until } from '../helpers/until.ts';

const request = (id: number, method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const call = (id: number, name: string, args: unknown = {}): string =>
  request(id, 'tools/call', { name: `switchyard_${name}`, arguments: args });
const hello = (version: unknown): object => ({
  protocolVersion: version,
  capabilities: {},
  clientInfo: { name: 'fixture', version: '0' },
});

/** Pipes a whole session in and closes stdin, as a script does. */
async function session(
  yard: AgentYard,
  lines: readonly string[],
  args: readonly string[] = [],
): Promise<any[]> {
  const ran = await yard.run(['mcp', ...args], { input: `${lines.join('\n')}\n` });
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('a read-only session gets thirteen responses in order, and leaves no state', async () => {
  const yard = await agentYard();
  const answers = await session(yard, [
    request(1, 'initialize', hello('2025-06-18')),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    request(2, 'tools/list', {}),
    request(3, 'resources/list', {}),
    request(4, 'resources/read', { uri: 'switchyard://project/brief' }),
    '',
    request(5, 'resources/read', { uri: 'switchyard://agent/guide' }),
    request(6, 'prompts/list', {}),
    request(7, 'prompts/get', {
      name: 'switchyard_branch_runtime',
      arguments: { branch: 'feature/demo', services: 'web' },
    }),
    call(8, 'doctor'),
    call(9, 'status'),
    call(10, 'status', { brnch: 'x' }),
    call(11, 'status', { cwd: 5 }),
    call(12, 'status', []),
    request(13, 'initialize', hello(20250618)),
  ]);
  expect(answers.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  const [first, tools, resources, brief, guide, prompts, prompt, doctor, status, typo, cwd, list, version] =
    answers;
  expect(first.result).toMatchObject({
    protocolVersion: '2025-06-18',
    capabilities: {
      tools: { listChanged: false },
      resources: { subscribe: false, listChanged: false },
      prompts: { listChanged: false },
    },
    serverInfo: { name: 'switchyard', title: 'Switchyard', version: expect.stringMatching(/^\d/) },
  });
  expect(tools.result.tools).toHaveLength(11);
  expect(resources.result.resources).toHaveLength(3);
  expect(prompts.result.prompts).toHaveLength(2);
  expect(JSON.parse(brief.result.contents[0].text)).toMatchObject({
    branch: null,
    configured_services: ['web'],
    configured_profiles: ['small'],
    env_warnings: ['missing link source .env'],
  });
  expect(guide.result.contents[0].text).toContain('switchyard_brief');
  expect(prompt.result.messages[0].content.text).toContain('feature/demo');
  const schemas = new Schemas(tools.result.tools);
  expect(schemas.fault('switchyard_doctor', doctor.result)).toBeUndefined();
  expect(schemas.fault('switchyard_status', status.result)).toBeUndefined();
  expect(typo.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('brnch') }] });
  expect(cwd.result).toMatchObject({ isError: true, content: [{ text: 'cwd must be a string' }] });
  expect(list.error).toMatchObject({ code: -32602, message: expect.stringContaining('must be an object') });
  expect(version.error).toMatchObject({ code: -32602, message: expect.stringContaining('protocolVersion') });
  expect(existsSync(yard.home)).toBe(false);
});

test('a piped session with changes does all of them, one after the other', async () => {
  const yard = await agentYard();
  const branch = 'feature/demo';
  const steps: [string, object][] = [
    ['create', { branch }],
    ['list', {}],
    ['up', { branch, profile: 'small' }],
    ['where', { service: 'web', branch }],
    ['logs', { service: 'web', branch }],
    ['checkout', { branch }],
    ['uncheckout', { branch }],
    ['down', { branch }],
  ];
  const [tools, ...answers] = await session(yard, [
    request(0, 'tools/list', {}),
    ...steps.map(([name, args], at) => call(at + 1, name, args)),
  ]);
  const schemas = new Schemas(tools.result.tools);
  const data: Record<string, any> = {};
  for (const [at, [name]] of steps.entries()) {
    const { id, result } = answers[at];
    expect([name, id, result.isError, schemas.fault(`switchyard_${name}`, result)]).toEqual([
      name,
      at + 1,
      false,
      undefined,
    ]);
    data[name] = result.structuredContent;
  }
  expect(data.create).toMatchObject({ created: true, env: ['missing link source .env'] });
  expect(data.list.worktrees).toMatchObject([{ branch, path: data.create.worktree }]);
  expect(data.up).toMatchObject({
    branch,
    profile: 'small',
    services: ['web'],
    outcomes: [{ result: 'ready' }],
  });
  expect(data.where).toMatchObject({ service: 'web', status: 'running', listener: { verified: true } });
  expect(data.logs.logs[0].lines).toEqual(['listening for feature/demo']);
  expect(data.checkout.messages[0]).toContain(`localhost:${yard.canonical}`);
  expect(data.uncheckout.messages).toEqual([`unchecked web from canonical port ${yard.canonical}`]);
  expect(data.down).toMatchObject({ branch, messages: ['stopped web'] });
  expect(alive(data.where.pid)).toBe(false);
});

test.each(['legacy', 'modern'] as const)(
  'it exits soon after its input ends, with all responses sent (%s)',
  async (era) => {
    const yard = await agentYard();
    const client = yard.agent();
    const { ask, call: use } = speaker(client, era);
    if (era === 'legacy') await client.initialize('2025-11-25');
    else await ask('server/discover');
    await use('brief');
    const quick = await client.close();
    expect(quick.code).toBe(0);
    expect(quick.ms).toBeLessThan(3000);

    const busy = yard.agent();
    const late = speaker(busy, era);
    const results = [late.call('doctor'), late.call('up'), late.call('status'), late.call('down')];
    await busy.close({ deadline: 60_000 });
    const [, up, status, down] = await Promise.all(results);
    expect(up.structuredContent.outcomes).toMatchObject([{ service: 'web', result: 'ready' }]);
    expect(status.structuredContent.services).toMatchObject([{ service: 'web', status: 'running' }]);
    expect(down.structuredContent.messages).toEqual(['stopped web']);
  },
);

test.each([
  ['legacy', -32002],
  ['modern', -32602],
] as const)('a resource that does not exist is refused with the code of the era (%s)', async (era, code) => {
  const yard = await agentYard();
  const client = yard.agent();
  if (era === 'legacy') await client.initialize('2025-11-25');
  const { ask } = speaker(client, era);
  for (const uri of ['switchyard://project/nothing', 'file:///etc/passwd']) {
    const { error } = await ask('resources/read', { uri });
    expect(error).toMatchObject({ code, message: expect.stringContaining(uri) });
  }
});

test.each(['legacy', 'modern'] as const)(
  'errors name tools, and commands only if there is no tool (%s)',
  async (era) => {
    const yard = await agentYard();
    const client = yard.agent();
    const { ask, call: use } = speaker(client, era);
    const said = async (name: string, args: object = {}): Promise<string> => {
      const { content } = await use(name, args);
      const text = content.map((each: any) => each.text).join('\n');
      expect(text).not.toMatch(/switchyard [a-z]/);
      return text;
    };
    expect(await said('where', { service: 'web' })).toContain(
      'Start it with `switchyard_up {"branch":"main","services":["web"]}`.',
    );
    expect(await said('logs', { service: 'web' })).toContain(
      '`switchyard_up {"branch":"main","services":["web"]}`',
    );
    for (const name of ['status', 'brief', 'up'])
      expect(await said(name, { branch: 'it;s' })).toContain('`switchyard_create {"branch":"it;s"}`');
    await use('create', { branch: 'x' });
    await use('up', { branch: 'x' });
    const { pid } = (await use('where', { branch: 'x', service: 'web' })).structuredContent;
    process.kill(-pid, 'SIGKILL');
    await until(() => !alive(pid), { what: 'the service to end' });
    expect(await said('where', { branch: 'x', service: 'web' })).toContain(
      '`switchyard_logs {"branch":"x","service":"web"}`',
    );
    const forget = '`switchyard_down {"branch":"x","services":["web"]}` forgets it.';
    expect(JSON.parse(await said('doctor')).findings).toContainEqual(
      expect.objectContaining({ next: expect.stringContaining(forget) }),
    );
    const { contents } = (await ask('resources/read', { uri: 'switchyard://project/doctor' })).result;
    expect(JSON.parse(contents[0].text).findings).toContainEqual(
      expect.objectContaining({ next: expect.stringContaining(forget) }),
    );
    await use('down');
    unlinkSync(yard.path('switchyard.toml'));
    const { content, isError } = await use('brief');
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining('`switchyard init`')]);
  },
);

test('a service that fails to start makes the call an error, with its exit code and last output', async () => {
  const yard = await agentYard(
    `[services.bad]\ncommand = "node -e \\"console.error('no database'); process.exit(3)\\""\n`,
  );
  const client = yard.agent();
  const { call: use } = speaker(client, 'legacy');
  const result = await use('up', { services: ['bad'] });
  expect(result).toMatchObject({
    isError: true,
    structuredContent: { services: ['bad'], outcomes: [{ service: 'bad', result: 'exited', exit_code: 3 }] },
  });
  expect(result.structuredContent.messages.join('\n')).toContain('no database');
  expect(new Schemas(await client.listTools()).fault('switchyard_up', result)).toBeUndefined();
});

test('in a worktree it applies to its branch; elsewhere a registered name selects the project', async () => {
  const yard = await agentYard();
  const { worktree } = await yard.ask('create', 'feature/x');
  await yard.ask('up', 'main');
  await yard.ask('up', 'feature/x');
  const briefOf = async (client: RawClient): Promise<any> => {
    const { result } = await client.request('resources/read', { uri: 'switchyard://project/brief' });
    return JSON.parse(result.contents[0].text);
  };
  const inside = yard.agent({ cwd: worktree });
  expect(await briefOf(inside)).toMatchObject({ branch: 'feature/x', project_root: yard.dir });
  const down = (await inside.call('switchyard_down')).result.structuredContent;
  expect(down).toMatchObject({ branch: 'feature-x', messages: ['stopped web'] });
  const others = (await inside.call('switchyard_status', { cwd: yard.dir })).result.structuredContent;
  expect(others.services).toMatchObject([{ branch: 'main', status: 'running' }]);

  const file = join(yard.home, 'state.json');
  const state = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...state, project_aliases: { shop: yard.dir } }));
  const [briefLine] = await session(
    { ...yard, run: (args, options) => yard.run(args, { ...options, cwd: '/' }) },
    [request(1, 'resources/read', { uri: 'switchyard://project/brief' })],
    ['--project', 'shop'],
  );
  expect(JSON.parse(briefLine.result.contents[0].text)).toMatchObject({ branch: null, project: 'shop' });
  const byDirectory = await yard.run(['mcp', '--cwd', worktree], {
    cwd: '/',
    input: `${request(1, 'resources/read', { uri: 'switchyard://project/brief' })}\n`,
  });
  expect(byDirectory.json.result.contents[0].text).toContain('"feature/x"');
});

test('problems at the start are reported immediately, on stderr', async () => {
  const yard = createYard();
  const both = await yard.run(['mcp', '--cwd', '.', '--project', 'a']);
  expect([both.code, both.stdout]).toEqual([2, '']);
  expect(both.stderr).toContain('Use either --cwd or --project, not both.');
  const unknown = await yard.run(['mcp', '--project', 'nobody']);
  expect([unknown.code, unknown.stdout]).toEqual([1, '']);
  expect(unknown.stderr).toContain(
    "Unknown MCP project 'nobody'; run `switchyard mcp install --name nobody`",
  );
  const help = await yard.run(['mcp', '--help']);
  expect(help.stdout).toContain('--project');
  expect(help.stdout).not.toContain('--cwd');
  expect(existsSync(yard.home)).toBe(false);
});

test('without a project it serves, says what is missing, and finds one that is created later', async () => {
  const yard = await agentYard();
  const empty = yard.path('..', `${yard.dir.split('/').at(-1)}-empty`);
  mkdirSync(empty);
  const client = yard.agent({ cwd: empty });
  await client.initialize();
  expect(await client.listTools()).toHaveLength(11);
  const missing = (await client.call('switchyard_brief')).result;
  expect(missing).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining(`Could not find switchyard.toml from ${empty}`) }],
  });
  writeFileSync(join(empty, 'switchyard.toml'), '[services.a]\ncommand = "a"\n');
  const found = (await client.call('switchyard_brief')).result;
  expect(found.structuredContent).toMatchObject({ project_root: empty, configured_services: ['a'] });
});

test('a killed server leaves the services running, and the next one finds them', async () => {
  const yard = await agentYard();
  const client = yard.agent();
  const up = (await client.call('switchyard_up')).result.structuredContent;
  const [{ pid }] = up.outcomes;
  client.signal('SIGKILL');
  await client.exited;
  expect(alive(pid)).toBe(true);
  const stopped = yard.agent();
  const where = (await stopped.call('switchyard_where', { service: 'web' })).result.structuredContent;
  expect(where.pid).toBe(pid);
  const exit = stopped.kill('SIGTERM');
  expect((await exit).code).toBe(0);
  expect(alive(pid)).toBe(true);
  await yard.ask('down');
  await until(() => !alive(pid), { what: 'the service to end' });
});

test('services are started only in a registered project', async () => {
  const yard = await agentYard();
  const env = { SWITCHBOARD_ALLOW_PROJECT: undefined };
  const up = async (args: readonly string[] = []): Promise<any> => {
    const client = yard.agent({ env, args: [SWITCHYARD, 'mcp', ...args] });
    await client.initialize();
    const { result } = await client.call('switchyard_up', {}, { deadline: 40_000 });
    await client.close();
    return result;
  };
  const refused = await up();
  expect(refused.isError).toBe(true);
  expect(refused.content[0].text).toContain('switchyard mcp install');
  expect((await yard.run(['mcp', 'install', '--name', 'shop'])).code).toBe(0);
  expect((await up()).isError).toBe(false);
  expect((await up(['--project', 'shop'])).isError).toBe(false);
});
