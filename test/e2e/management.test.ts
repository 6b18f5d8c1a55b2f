/** The management tools in the program switchboard, where the configuration has to turn them on. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ownState } from '../helpers/gateway.ts';
import {
  AUTO_APPROVAL,
  CONFIG,
  failed,
  ELICITATION,
  MANAGEMENT_TOOLS,
  startManagedClient,
  PERSIST,
  spawnedServers,
  startManaged,
} from '../helpers/management.ts';
import { alive } from '../helpers/processes.ts';
import { textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('by default', () => {
  test.each([undefined, false, { enabled: false }, { enabled: false, approval: 'auto', persist: true }])(
    'with management %j there is no tool to manage servers',
    async (management) => {
      const { client } = await startManaged(management, {}, { echo: nodeServer('echo', '--tools=echo') });
      await client.waitForStderr(/running server=echo/);
      expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo__echo']);
      for (const name of MANAGEMENT_TOOLS) {
        const { error } = await client.call(name, { name: 'x', ...nodeServer('echo') });
        expect(error?.code).toBe(-32602);
      }
      expect(spawnedServers(client)).toEqual(['echo']);
    },
  );
});

test('if enabled, the four tools are first in the list; configured servers are listed, also idle ones', async () => {
  const { client, tools, servers, call } = await startManaged(
    true,
    { config: { exposure: 'suite' } },
    {
      echo: nodeServer('echo'),
    },
  );
  expect(await tools()).toEqual([...MANAGEMENT_TOOLS, 'echo_suite']);
  expect(await servers()).toEqual([
    {
      name: 'echo',
      ...nodeServer('echo'),
      status: 'idle',
      tools: ['echo_suite'],
      pid: 0,
      uptime_seconds: 0,
    },
  ]);
  expect(spawnedServers(client)).toEqual([]);
  const pid = Number(textOf(await call('echo', 'pid')));
  expect(await servers()).toMatchObject([{ status: 'running', pid }]);
});

test('their names cannot be taken by a tool that is shown under its own name', async () => {
  const { client, tools } = await startManaged(
    true,
    { config: { naming: 'plain' } },
    { evil: nodeServer('offering', `--tools=${MANAGEMENT_TOOLS.join(',')}`, '--name=evil', '--quiet') },
  );
  await client.waitForStderr(/running server=evil/);
  expect(await tools()).toEqual([...MANAGEMENT_TOOLS, ...MANAGEMENT_TOOLS.map((name) => `evil__${name}`)]);
  expect((await client.call('list_servers')).result.structuredContent.servers).toHaveLength(1);
  expect(textOf(await client.call('evil__list_servers'))).toBe('evil ran list_servers with {}');
});

test('approval "auto" does not ask', async () => {
  const gateway = await startManaged({ approval: 'auto' }, { capabilities: ELICITATION });
  expect(failed(await gateway.add('echo', nodeServer('echo')))).toBe(false);
  expect(textOf(await gateway.client.call('echo__echo', { text: 'there' }))).toBe('there');
  expect(gateway.client.requests).toEqual([]);
});

test('a server that was added is shown as the configuration wants, and comes back after a crash like any other', async () => {
  const gateway = await startManaged(
    { approval: 'auto' },
    { config: { exposure: 'suite', suites: { boxed: { suiteName: 'box', hiddenTools: ['pid'] } } } },
  );
  await gateway.added('boxed', nodeServer('crash'));
  expect(await gateway.tools()).toEqual([...MANAGEMENT_TOOLS, 'box']);
  const call = (subtool: string, args = {}) => gateway.client.call('box', { action: 'call', subtool, args });
  expect(textOf(await call('echo', { text: 'in a box' }))).toBe('in a box');
  expect(failed(await call('pid'))).toBe(true);
  expect(failed(await call('crash'))).toBe(true);
  expect(textOf(await call('echo', { text: 'again' }))).toBe('again');
});

/** The pid of the process that was started last for a server, once there is one. */
async function spawnedPid(client: RawClient, server: string): Promise<number> {
  const [, pid] = await client.waitForStderr(new RegExp(`spawned server=${server} pid=(\\d+)`));
  return Number(pid);
}

test('a server that runs and cannot be listed is shown as running, with the reason', async () => {
  const gateway = await startManagedClient({ bad: nodeServer('bad-list') });
  const { project } = gateway;
  const { pid } = await gateway.serverOnce('bad', 'running');
  const list = async (...flags: string[]): Promise<string> => {
    const program = [join(ROOT, 'dist/index.js'), 'list', ...flags];
    const env = { ...process.env, ...ownState(project) };
    return (await promisify(execFile)(process.execPath, program, { cwd: project.dir, env })).stdout;
  };
  const state = await until(
    async () => {
      const [server] = JSON.parse(await list('--json')).servers;
      return server.state?.problem === undefined ? undefined : server.state;
    },
    { what: 'the reason to be listed' },
  );
  expect(state).toMatchObject({ kind: 'running', pid });
  expect(state.problem).toContain('the catalogue is on fire');
  expect(await list()).toMatch(new RegExp(`^bad +.*running pid ${pid}, but: `, 'm'));
  const listed = await gateway.server('bad');
  expect(listed).toMatchObject({ status: 'running', pid });
  expect(listed.error).toContain('the catalogue is on fire');
});

test('reload_server keeps what clients have subscribed to', async () => {
  const UPDATED = 'notifications/resources/updated';
  const [uri, other] = ['demo://watched', 'demo://not-watched'];
  const gateway = await startManagedClient({ it: nodeServer('offering', `--resources=${uri},${other}`) });
  const { client } = gateway;
  const state = async () => JSON.parse(textOf(await client.call('it__state')));
  await gateway.serverOnce('it', 'running');
  await until(async () => (await client.request('resources/list')).result.resources.length === 2, {
    what: 'its resources',
  });
  await gateway.tools();
  expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
  const before = await state();
  expect(before.subscribed).toEqual([uri]);
  expect(failed(await gateway.reload('it'))).toBe(false);
  // The new process was told of it, and what it says arrives.
  const after = await until(
    async () => {
      const now = await state();
      return now.subscribed.length > 0 ? now : undefined;
    },
    { what: 'the new process to be subscribed to' },
  );
  expect(after).toMatchObject({ subscribed: [uri] });
  expect(after.pid).not.toBe(before.pid);
  const from = client.messages.length;
  await client.call('it__touch', { uri: other });
  await client.call('it__touch', { uri });
  const { params } = await client.waitFor(({ method }) => method === UPDATED, { from });
  expect(params.uri).toBe(uri);
  // And it can be given up.
  expect((await client.request('resources/unsubscribe', { uri })).result).toEqual({});
  expect((await state()).subscribed).toEqual([]);
});

test('the log says that the process of a removed server has exited', async () => {
  const gateway = await startManagedClient({});
  const { pid } = await gateway.added('gone', nodeServer('echo'));
  expect(failed(await gateway.remove('gone'))).toBe(false);
  const [line] = await gateway.client.waitForStderr(/ exited .*server=gone.*\n/);
  expect(line).toContain(`pid=${pid}`);
});

describe('an add_server that is cancelled', () => {
  // Far more than the test waits: only the cancellation can end it.
  const config = { management: PERSIST, timeouts: { childSpawnMs: 300_000 } };
  const cancel = (id: string): RpcMessage => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: id },
  });
  const call = (id: string, server: object): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'add_server', arguments: { name: 'mute', ...server } },
  });

  test('while the server does not say hello adds nothing and ends its process', async () => {
    const gateway = await startManagedClient({}, { config });
    const { client, project } = gateway;
    const before = project.read(CONFIG);
    client.send(call('unwanted', nodeServer('never-initialize')));
    const pid = await spawnedPid(client, 'mute');
    await client.waitForStderr(/not answering/);
    client.send(cancel('unwanted'));
    await until(() => !alive(pid), { what: 'its process to be gone' });
    await until(async () => (await gateway.servers()).length === 0, { what: 'it to be listed no more' });
    expect(project.read(CONFIG)).toBe(before);
    expect(client.messages.filter(({ id }) => id === 'unwanted')).toEqual([]);
    // The name is free.
    expect(await gateway.added('mute', nodeServer('echo'))).toMatchObject({ status: 'running' });
  });

  test.each([AUTO_APPROVAL, PERSIST])(
    'in the same breath adds nothing either, with %j',
    async (management) => {
      const gateway = await startManagedClient({}, { config: { ...config, management } });
      const { client, project } = gateway;
      const before = project.read(CONFIG);
      const both = [call('unwanted', nodeServer('echo')), cancel('unwanted')];
      client.sendRaw(both.map((message) => `${JSON.stringify(message)}\n`).join(''));
      // Added behind it: what the cancelled one still does is done, or under way and listed, by then.
      await gateway.added('next', nodeServer('echo'));
      await gateway.remove('next');
      expect((await gateway.servers()).map(({ name }) => name)).toEqual([]);
      expect(project.read(CONFIG)).toBe(before);
    },
  );
});
