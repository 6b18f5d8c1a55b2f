import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { envelope, ModernCaller } from '../helpers/eras.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { alive } from '../helpers/processes.ts';
import type { RawClient } from '../helpers/raw-client.ts';
import { ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { SWITCHYARD } from '../helpers/yard.ts';
import { agentYard, Schemas, type AgentYard } from '../helpers/yard-agent.ts';
import { carriersOf, reapersOf } from '../servers/shapes/watch.ts';

const PROGRAM = join(ROOT, 'dist/index.js');

/** A gateway in the project, in front of these servers. */
function gateway(yard: AgentYard, servers: object, config: object = {}): RawClient {
  yard.write('switchboard.config.json', { mcpServers: servers, ...config });
  return yard.agent({ args: [PROGRAM], env: { SWITCHBOARD_STATE_DIR: yard.path('.state') } });
}

type Use = (tool: string, args?: object) => Promise<any>;

/** The whole story, however its tools are reached. Gives the pid of the service it leaves running. */
async function story(yard: AgentYard, tools: readonly any[], use: Use): Promise<number> {
  const schemas = new Schemas(tools);
  const data = async (name: string, args: object = {}): Promise<any> => {
    const tool = `switchyard_${name}`;
    const result = await use(tool, args);
    expect([tool, result.isError, schemas.fault(tool, result)]).toEqual([tool, false, undefined]);
    if (name !== 'logs') expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    return result.structuredContent;
  };
  const branch = 'feature/x';
  expect(await data('brief')).toMatchObject({ project_root: yard.dir, branch: null });
  const { worktree } = await data('create', { branch });
  expect((await data('up', { branch })).outcomes).toMatchObject([{ result: 'ready' }]);
  const where = await data('where', { service: 'web', branch });
  expect(where).toMatchObject({ worktree, listener: { verified: true } });
  const lines = await until(async () => {
    const [log] = (await data('logs', { branch })).logs;
    return log.lines.length > 0 && log.lines;
  });
  expect(lines).toEqual([`listening for ${branch}`]);
  await data('checkout', { branch });
  expect(await (await fetch(`http://localhost:${yard.canonical}/`)).text()).toBe(`web of ${branch}`);
  await data('uncheckout', { branch });
  const refused = await use('switchyard_status', { brnch: 1 });
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('brnch') }] });
  expect(refused.structuredContent).toBeUndefined();
  expect(await data('down', { branch })).toMatchObject({ messages: ['stopped web'] });
  expect(alive(where.pid)).toBe(false);
  return (await data('up', { branch })).outcomes[0].pid;
}

test('as a suite it is one tool, and its results pass unchanged', async () => {
  const yard = await agentYard();
  const client = gateway(yard, { yard: { builtin: 'switchyard' } });
  const greeting = await client.initialize('2025-11-25');
  expect(greeting.result.instructions).not.toContain('Switchyard');
  const [suite, ...others] = await client.listTools();
  expect(others).toEqual([]);
  expect(suite).toMatchObject({ name: 'yard_suite', description: expect.stringContaining('local services') });
  const seen = await client.call('yard_suite', { action: 'introspect', verbosity: 'full' });
  expect(seen.result.structuredContent.instructions).toContain('Switchyard runs the local services');
  const pid = await story(yard, seen.result.structuredContent.tools, async (subtool, args = {}) => {
    return (await client.call('yard_suite', { action: 'call', subtool, args })).result;
  });
  const { result } = await client.request('resources/read', { uri: 'switchyard://project/brief' });
  expect(JSON.parse(result.contents[0].text).services).toMatchObject([{ service: 'web', status: 'running' }]);
  const prompts = (await client.request('prompts/list')).result.prompts.map(({ name }: any) => name);
  expect(prompts).toContain('yard__switchyard_runtime_handoff');
  await client.close();
  // What it started is not the gateway's.
  expect(alive(pid)).toBe(true);
});

test('flat, it has all its tools and reports the progress of a start; also in the newer protocol version', async () => {
  const yard = await agentYard();
  const client = gateway(yard, {
    yard: {
      builtin: 'switchyard',
      exposure: 'flat',
      tools: { switchyard_up: { presets: { profile: 'small' } } },
    },
  });
  const ask = (method: string, params: any = {}): Promise<any> =>
    client.request(method, { ...params, _meta: { ...envelope({}), ...params._meta } });
  const { tools } = (await ask('tools/list')).result;
  expect(tools).toHaveLength(11);
  const own = tools.map((tool: any) => ({ ...tool, name: tool.name.replace('yard__', '') }));
  expect(
    own.find(({ name }: any) => name === 'switchyard_up').inputSchema.properties.profile,
  ).toBeUndefined();
  await story(yard, own, async (tool, args = {}) => {
    const _meta = { progressToken: tool };
    const { result } = await ask('tools/call', { name: `yard__${tool}`, arguments: args, _meta });
    if (tool === 'switchyard_up') expect(result.structuredContent.profile).toBe('small');
    return result;
  });
  const told = client.notifications.filter(({ params }) => params?.progressToken === 'switchyard_up');
  expect(told.map(({ params }) => params.message).join('\n')).toContain('started web');
});

test('a compound tool can be made of its tools', async () => {
  const yard = await agentYard();
  const client = gateway(
    yard,
    { yard: { builtin: 'switchyard', exposure: 'hidden' } },
    {
      tools: {
        look: {
          description: 'Look.',
          subtools: { yard: { tools: [{ name: 'switchyard_brief' }] } },
        },
      },
    },
  );
  await client.initialize();
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['look']);
  const look = (tool: string): Promise<any> =>
    client.call('look', { action: 'call', server: 'yard', tool, args: {} });
  expect((await look('switchyard_brief')).result.structuredContent).toMatchObject({ project: 'shop' });
  expect((await look('switchyard_down')).result).toMatchObject({ isError: true });
});

test('two projects run side by side, each confined to its own', async () => {
  const yard = await agentYard();
  const other = await agentYard();
  yard.write('switchboard.config.json', {
    mcpServers: { here: { builtin: 'switchyard' }, there: { builtin: 'switchyard', project: other.dir } },
  });
  const both = yard.agent({ args: [PROGRAM], env: { SWITCHBOARD_STATE_DIR: yard.path('.state') } });
  await both.initialize();
  const brief = async (server: string, args: object = {}): Promise<any> =>
    (await both.call(`${server}_suite`, { action: 'call', subtool: 'switchyard_brief', args })).result;
  expect((await brief('here')).structuredContent.project_root).toBe(yard.dir);
  expect((await brief('there')).structuredContent.project_root).toBe(other.dir);
  expect((await brief('here', { cwd: other.dir })).isError).toBe(true);
  // Both have the same resources; the second one's are told apart, and answered under the name they were asked by.
  const { resources } = (await both.request('resources/list')).result;
  const uris = resources.map(({ uri }: any) => uri).filter((uri: string) => uri.endsWith('project/brief'));
  expect(uris).toHaveLength(2);
  for (const [at, uri] of uris.entries()) {
    const [contents] = (await both.request('resources/read', { uri })).result.contents;
    expect([contents.uri, JSON.parse(contents.text).project_root]).toEqual([uri, [yard.dir, other.dir][at]]);
  }
});

test('the commands of the gateway know that there is no process', async () => {
  const yard = await agentYard();
  yard.write('switchboard.config.json', {
    mcpServers: {
      yard: { builtin: 'switchyard' },
      lost: { builtin: 'switchyard', project: './nowhere' },
    },
  });
  const run = async (...args: string[]): Promise<{ code: number; stdout: string; json: any }> => {
    const options = { cwd: yard.dir, env: { ...yard.env, SWITCHBOARD_STATE_DIR: yard.path('.state') } };
    const { stdout, code } = await promisify(execFile)(process.execPath, [PROGRAM, ...args], options).then(
      (done) => ({ ...done, code: 0 }),
      (error: unknown) => error as { stdout: string; code: number },
    );
    return { code, stdout, json: args.includes('--json') ? JSON.parse(stdout) : undefined };
  };
  const { servers } = (await run('list', '--json')).json;
  expect(servers).toMatchObject([
    { name: 'yard', kind: 'builtin', command: '', builtin: 'switchyard', suite: 'yard_suite' },
    { name: 'lost', kind: 'builtin', project: './nowhere' },
  ]);
  expect((await run('list')).stdout).toContain('(built in: switchyard of ./nowhere)');
  const doctor = await run('doctor', '--start', '--json');
  expect(doctor.code).toBe(1);
  expect(doctor.json.servers).toMatchObject([
    { name: 'yard', ok: true, kind: 'builtin', root: yard.dir, start: { ok: true, tools: 11 } },
    { name: 'lost', ok: false, root: null, problems: [{ message: expect.stringContaining('nowhere') }] },
  ]);
  expect((await run('doctor', 'yard')).stdout).toContain(`project  ${yard.dir}`);
  expect((await run('tools', 'yard')).stdout).toContain('switchyard_where {service:string, branch?:string');
  expect((await run('call', 'yard', 'switchyard_brief', '--json')).json.structuredContent.project).toBe(
    'shop',
  );
  expect((await run('call', 'yard', 'switchyard_where')).code).toBe(2);
  const cost = (await run('dry-run', 'yard', '--json')).json.servers[0];
  expect(cost.tools).toHaveLength(11);
  expect(cost.tokens.listed).toBeLessThan(cost.tokens.flat / 10);
  expect((await run('auth', 'yard')).code).toBe(2);
});

test.each(['at the end of its input', 'when it is killed'])(
  'a server that the gateway starts as a program leaves its services running when the gateway ends: %s',
  async (how) => {
    const yard = await agentYard();
    const client = gateway(yard, { yard: { command: process.execPath, args: [SWITCHYARD, 'mcp'] } });
    await client.initialize();
    const use = async (subtool: string): Promise<any> =>
      (await client.call('yard_suite', { action: 'call', subtool, args: {} })).result;
    const [{ pid }] = (await use('switchyard_up')).structuredContent.outcomes;
    const reapers = reapersOf(client.pid!);
    expect(reapers).toHaveLength(1);
    if (how === 'when it is killed') client.signal('SIGKILL');
    else await client.close();
    // Everything else of it ends.
    const servers = (): unknown[] =>
      yard.living().filter(({ command }) => command.endsWith('switchyard.js mcp'));
    await until(() => servers().length === 0, { what: 'the server to end' });
    await until(() => !reapers.some(alive), { what: 'the reaper to have done its work' });
    expect(alive(pid)).toBe(true);
    // Without its log writer it would wait as soon as it has written a lot.
    expect(carriersOf(`LOG_FILE=${yard.env['SWITCHYARD_HOME']}`).length).toBeGreaterThan(0);
    expect((await yard.ask('where', 'web')).pid).toBe(pid);
  },
);

test('over HTTP each client has its own; one that gives up a response does not disturb others', async () => {
  const yard = await agentYard('[services.slow]\ncommand = "node -e setInterval(()=>0,1000)"\n');
  const servers = { yard: { builtin: 'switchyard', project: yard.dir, exposure: 'flat' } };
  const http = await startHttpGateway(servers as never, { env: yard.env });
  const [one, two] = await Promise.all([HttpSession.open(http), HttpSession.open(http)]);
  const up = { name: 'yard__switchyard_up', arguments: {} };
  const waiting = one.request('tools/call', up, 'up').catch(() => undefined);
  const services = async (): Promise<any[]> =>
    (await two.call('yard__switchyard_status')).result.structuredContent.services;
  await until(async () => (await services()).length === 2, { what: 'both services', deadline: 30_000 });
  await one.notify('notifications/cancelled', { requestId: 'up' });
  await one.end();
  await waiting;
  expect((await services()).map(({ status }) => status)).toEqual(['running', 'running']);
  const modern = ModernCaller.overHttp(http);
  const down = await modern.call('yard__switchyard_down');
  expect([...down.result.structuredContent.messages].sort()).toEqual(['stopped slow', 'stopped web']);
  expect(http.children()).toEqual([]);
  await two.end();
});
