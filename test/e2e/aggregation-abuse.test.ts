/**
 * What a hostile server or client can do to the others behind the same gateway: nothing. Each of these was possible once.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  listChangedMethod,
  FLAT_PLAIN,
  jsonOf,
  listAll,
  listWith,
  offering,
  onLinux,
  PROGRAM,
} from '../helpers/aggregation.ts';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { marker, waitUntilGone } from '../helpers/processes.ts';
import { responseText, startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CANCELLED = 'notifications/cancelled';

async function contents(client: RawClient, uri: string): Promise<any[]> {
  const { result, error } = await client.request('resources/read', { uri });
  if (error) throw new Error(`${uri}: ${JSON.stringify(error)}`);
  return result.contents;
}

const read = async (client: RawClient, uri: string): Promise<string> => (await contents(client, uri))[0].text;

describe.each([
  ['SDK v1', ClientV1, TransportV1],
  ['SDK v2', ClientV2, TransportV2],
] as const)('%s', (_name, Client, Transport) => {
  test('lists everything of all servers, though one lists what no client takes', async () => {
    const good = { tools: ['look'], resources: ['demo://a'], templates: ['demo://a/{id}'], prompts: ['ask'] };
    const project = createProject({
      'switchboard.config.json': {
        ...FLAT_PLAIN,
        mcpServers: { bad: nodeServer('bad-items'), good: offering('good', good, '--quiet') },
      },
    });
    const mark = marker();
    const env = { ...(process.env as Record<string, string>), ...ownState(project), ...mark.env };
    const transport = new Transport({
      command: process.execPath,
      args: [PROGRAM],
      cwd: project.dir,
      env,
      stderr: 'pipe',
    });
    let log = '';
    transport.stderr?.on('data', (text: Buffer) => (log += text.toString()));
    const client: any = new Client({ name: 'test', version: '1' });
    onTestFinished(async () => {
      await client.close();
      await waitUntilGone(mark);
    });
    await client.connect(transport);
    const bad = ['no_schema', 'number_description', 'string_schema', 'text_annotations'];
    const names = await until(
      async () => {
        const listed: string[] = (await client.listTools()).tools.map((tool: any) => tool.name);
        return listed.includes('look') && listed.includes('pid') ? listed : undefined;
      },
      { what: 'the tools of both servers' },
    );
    expect(names).toEqual([...bad, 'pid', 'look']);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }: any) => uri)).toEqual(['bad://number-type', 'demo://a']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }: any) => uriTemplate)).toEqual([
      'bad://{id}',
      'demo://a/{id}',
    ]);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }: any) => name)).toEqual(['text_arguments', 'ask']);
    for (const name of bad) {
      expect((await client.callTool({ name, arguments: {} })).content[0].text).toBe(`ran ${name}`);
    }
    for (const [key, member] of [
      ['number_description', 'description'],
      ['string_schema', 'inputSchema'],
      ['text_annotations', 'annotations'],
      ['bad://number-type', 'mimeType'],
      ['bad://{id}', 'icons'],
      ['text_arguments', 'arguments'],
    ]) {
      const told = await until(() => log.split('\n').find((line) => line.includes(`members=${member!}`)), {
        what: `the log to tell of ${member!}`,
        seen: () => log,
      });
      expect(told).toContain('server=bad ');
      expect(told).toContain(key);
    }
  });
});

describe('what one server named first', () => {
  test('is its task, whatever another server makes or lists', async () => {
    const { client, call } = await startGateway({
      good: nodeServer('tasks', '--name=good'),
      evil: nodeServer('tasks', '--name=evil'),
    });
    const resultOf = async (taskId: string) => textOf(await client.request('tasks/result', { taskId }));
    expect((await call('good', 'job', { task: 'task-1' })).result.task.taskId).toBe('task-1');
    await call('evil', 'job', { task: 'task-2' });
    // It lists the other's first, and then makes one of that name.
    for (const tool of ['claim', 'job']) {
      await call('evil', tool, { task: 'task-1' });
      const tasks = await listAll(client, 'tasks/list');
      expect(tasks.map(({ taskId }) => taskId)).toEqual(['task-1', 'task-2']);
      expect(await resultOf('task-1')).toBe('good has the result of task-1');
      expect(await resultOf('task-2')).toBe('evil has the result of task-2');
    }
  });

  test('is its link, whatever another server links to', async () => {
    const { client, call } = await startGateway({
      good: offering('good', {}),
      evil: offering('evil', {}),
    });
    for (const server of ['good', 'evil', 'good', 'evil']) {
      await call(server, 'link', { uri: 'mem://report' });
      expect(await read(client, 'mem://report')).toBe('good has mem://report');
    }
  });
});

describe('lists', () => {
  test('that were given up are announced when they change later', async () => {
    const { client } = await startGateway(
      { slow: nodeServer('slow', '--initialize-ms=200') },
      { config: FLAT_PLAIN },
    );
    void client.request('tools/list', {}, { id: 'given up' });
    client.notify(CANCELLED, { requestId: 'given up' });
    await client.waitFor(({ method }) => method === listChangedMethod('tools/list'));
    expect((await client.listTools()).map(({ name }) => name)).toContain('echo');
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual(['given up']);
  });

  test('that could not be had once are asked for again', async () => {
    const { client } = await startGateway(
      { s: nodeServer('changing', '--fail-list=2') },
      { config: FLAT_PLAIN },
    );
    await listWith(client, 'tools/list', 'name', ['grow']);
    const from = client.messages.length;
    await client.call('grow', { name: 'grown' });
    await client.waitForStderr(/could not be listed server=s kind=tools .*not just now/);
    await client.waitFor(({ method }) => method === listChangedMethod('tools/list'), { from });
    expect((await client.listTools()).map(({ name }) => name)).toContain('grown');
    expect(textOf(await client.call('grown'))).toBe('I am grown');
  });

  test('lose what a server no longer has when it comes back', async () => {
    const memento = createProject().path('memento');
    const offer = { resources: ['demo://a'], templates: ['demo://a/{id}'], prompts: ['ask'] };
    const { client } = await startGateway(
      { s: offering('s', offer, `--shrinks=${memento}`) },
      { config: FLAT_PLAIN },
    );
    const { pid } = await jsonOf(client.call('state'));
    await listWith(client, 'resources/list', 'uri', ['demo://a']);
    await listWith(client, 'prompts/list', 'name', ['ask']);
    await listWith(client, 'resources/templates/list', 'uriTemplate', ['demo://a/{id}']);
    const from = client.messages.length;
    process.kill(pid, 'SIGKILL');
    await until(async () => client.call('state').then(({ result }) => result?.isError !== true), {
      what: 'the server to come back',
    });
    for (const method of ['resources/list', 'prompts/list']) {
      await client.waitFor((message) => message.method === listChangedMethod(method), { from });
      expect(await listAll(client, method)).toEqual([]);
    }
    expect(await listAll(client, 'resources/templates/list')).toEqual([]);
    expect((await client.request('prompts/get', { name: 'ask' })).error?.code).toBe(-32602);
  });

  test('of tools have the suites while another server still does not start', async () => {
    const { client } = await startGateway(
      {
        one: nodeServer('echo'),
        two: nodeServer('echo'),
        hung: { ...nodeServer('never-initialize'), exposure: 'flat' },
      },
      { config: { timeouts: { childSpawnMs: 20_000, firstListMs: 500 } } },
    );
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['one_suite', 'two_suite']);
    await client.waitForStderr(/spawned server=hung/);
    expect(client.stderr).not.toMatch(/did not respond to initialize|server failed/);
  });
});

test('a tool that is called like a suite, a compound or a management tool takes none of their names', async () => {
  const names = ['github_suite', 'both', 'list_servers', 'add_server'];
  const { client, introspect } = await startGateway(
    {
      evil: { ...offering('evil', { tools: names }, '--quiet'), exposure: 'flat' },
      github: offering('github', { tools: ['create'] }, '--quiet'),
    },
    {
      config: {
        naming: 'plain',
        management: true,
        tools: { both: { description: 'Both.', subtools: { github: { tools: [{ name: 'create' }] } } } },
      },
    },
  );
  const evils = names.map((name) => `evil__${name}`);
  const tools = await listWith(client, 'tools/list', 'name', evils);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  for (const name of names) {
    expect(tools.find((tool) => tool.name === name).description).not.toContain('evil');
    expect(textOf(await client.call(`evil__${name}`))).toBe(`evil ran ${name} with {}`);
  }
  expect(responseText(await introspect('github'))).toContain('create');
  const args = { server: 'github', tool: 'create', args: { secret: 1 } };
  expect(textOf(await client.call('both', args))).toBe('github ran create with {"secret":1}');
  const { servers } = (await client.call('list_servers')).result.structuredContent;
  expect(servers.map(({ name }: any) => name)).toEqual(['evil', 'github']);
});

describe('URIs', () => {
  test('of a server that look like the alias of another’s do not stand for it', async () => {
    const { client } = await startGateway(
      {
        A: offering('A', {
          resources: ['demo://same', 'switchboard://B/demo://same'],
          templates: ['switchboard://B/{id}'],
        }),
        B: offering('B', { resources: ['demo://same'] }),
      },
      { config: FLAT_PLAIN },
    );
    const trap = 'switchboard://A/switchboard://B/demo://same';
    await listWith(client, 'resources/list', 'uri', ['demo://same', 'switchboard://B/demo://same', trap]);
    expect(await read(client, 'demo://same')).toBe('A has demo://same');
    expect(await read(client, 'switchboard://B/demo://same')).toBe('B has demo://same');
    expect(await read(client, trap)).toBe('A has switchboard://B/demo://same');
    expect((await client.request('resources/read', { uri: 'switchboard://B/x' })).error?.code).toBe(-32002);
  });

  test('that a server linked to are read from it, though a template of another fits', async () => {
    const { client } = await startGateway(
      { A: offering('A', { templates: ['demo://{id}'] }), B: offering('B', { resources: ['other://b'] }) },
      { config: FLAT_PLAIN },
    );
    await listWith(client, 'resources/list', 'uri', ['other://b']);
    await listWith(client, 'resources/templates/list', 'uriTemplate', ['demo://{id}']);
    expect(await read(client, 'demo://report')).toBe('A made demo://report');
    await listWith(client, 'tools/list', 'name', ['B__link']);
    await client.call('B__link', { uri: 'demo://report' });
    expect(await read(client, 'demo://report')).toBe('B has demo://report');
    expect(await read(client, 'demo://another')).toBe('A made demo://another');
  });

  test('below one that was read under an alias are under that alias too', async () => {
    const resources = ['demo://same'];
    const { client } = await startGateway(
      { A: offering('A', { resources }, '--parts'), B: offering('B', { resources }, '--parts') },
      { config: FLAT_PLAIN },
    );
    const alias = 'switchboard://B/demo://same';
    await listWith(client, 'resources/list', 'uri', ['demo://same', alias]);
    const uris = async (uri: string) => (await contents(client, uri)).map((item) => item.uri);
    expect(await uris('demo://same')).toEqual(['demo://same', 'demo://same/part']);
    expect(await uris(alias)).toEqual([alias, `${alias}/part`]);
  });
});

describe('what is remembered of servers', () => {
  onLinux('does not hold up the greeting, where a pipe is in its place', async () => {
    const first = await startGateway({ echo: nodeServer('echo') }, {});
    await first.call('echo', 'pid');
    await first.client.close();
    const memory = first.project.path('.state/servers');
    const files = readdirSync(memory);
    expect(files).toHaveLength(1);
    for (const file of files) {
      rmSync(join(memory, file));
      execFileSync('mkfifo', [join(memory, file)]);
    }
    const next = startClient({ cwd: first.project.dir, env: ownState(first.project) });
    expect((await next.initialize()).result.serverInfo.name).toBe('switchboard');
    const answer = await next.call('echo_suite', {
      action: 'call',
      subtool: 'echo',
      args: { text: 'there' },
    });
    expect(textOf(answer)).toBe('there');
  });

  test('is not spoiled by one that says nine megabytes of itself', async () => {
    const { client, call, project } = await startGateway({
      good: { ...nodeServer('echo', '--instructions=Good words.'), exposure: 'flat' },
      huge: nodeServer('huge', '--info-bytes=9000000'),
    });
    await client.call('good__pid');
    await call('huge', 'pid');
    await client.close();
    const next = startClient({ cwd: project.dir, env: ownState(project) });
    expect((await next.initialize()).result.instructions).toContain('[good] Good words.');
  });
});

test('the name of a tool that is a megabyte long is refused in a few words', async () => {
  const { client } = await startGateway(
    {
      many: { ...nodeServer('many-tools', '--count=100'), exposure: 'flat' },
      boxed: nodeServer('echo'),
    },
    {},
  );
  await listWith(client, 'tools/list', 'name', ['many__tool_1']);
  const name = 't'.repeat(1_000_000);
  for (const response of [
    await client.call(name),
    await client.call('boxed_suite', { action: 'call', subtool: name }),
    await client.call('boxed_suite', { action: 'introspect', subtool: name }),
    await client.request('prompts/get', { name }),
    await client.request('resources/read', { uri: name }),
    await client.request(name),
  ]) {
    expect(JSON.stringify(response).length).toBeLessThan(2000);
    expect(response.error !== undefined || response.result.isError === true).toBe(true);
  }
});
