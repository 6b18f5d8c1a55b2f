import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { until } from '../../../test/helpers/until.ts';
import {
  overHttp,
  overStdio,
  parsedText,
  scratchFile,
  startModernServer,
  TestClient,
  type UpstreamHarness,
  type UpstreamHarnessOptions,
} from './modern.cases.ts';

const ways: [string, (options?: UpstreamHarnessOptions) => Promise<UpstreamHarness>][] = [
  ['stdio', (options) => Promise.resolve(overStdio([], options))],
  ['HTTP', async (options) => overHttp((await startModernServer()).url, options)],
];
const META = 'io.modelcontextprotocol/';
const info = { name: 'switch', version: '9' };

describe.each(ways)('a modern server over %s', (_, rig) => {
  test('is told with each call what the client can do, and who we are', async () => {
    const { source } = await rig({ capabilities: { roots: {} } });
    const client = new TestClient({ sampling: {} });
    client.session.logLevel = 'warning';
    expect(parsedText(await client.tool(source, 'params', { a: 1 }).answer)).toEqual({
      name: 'params',
      arguments: { a: 1 },
      _meta: {
        [`${META}protocolVersion`]: '2026-07-28',
        [`${META}clientInfo`]: info,
        [`${META}clientCapabilities`]: { sampling: {} },
        [`${META}logLevel`]: 'warning',
      },
    });
  });

  test('is told what each request of modern clients says, however alike they are, and of all that we are the client', async () => {
    const { source } = await rig();
    const client = new TestClient({}, true);
    const meta = {
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientInfo`]: { name: 'Überall', version: '1' },
      [`${META}clientCapabilities`]: {},
    };
    const metas = [
      meta,
      { ...meta, [`${META}clientInfo`]: { name: 'Üveral', version: '1' } },
      { ...meta, [`${META}clientCapabilities`]: { sampling: {} } },
      { ...meta, [`${META}logLevel`]: 'error' },
      { ...meta, progressToken: 'mine' },
      { 'its/own': ['ü', {}], ...meta },
      { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: {} },
    ];
    for (let round = 0; round < 4; round++) {
      // The first ones several times in a row, then all of them once.
      for (const each of round < 2 ? metas.flatMap((one) => [one, one, one]) : metas) {
        const seen = parsedText(await client.tool(source, 'params', { round }, each).answer);
        expect(seen.arguments).toEqual({ round });
        const token = 'progressToken' in each ? { progressToken: expect.any(Number) } : {};
        expect(seen._meta).toEqual({ ...each, [`${META}clientInfo`]: info, ...token });
      }
    }
  });

  test('says more in its results than an older client is given, and a modern one gets all', async () => {
    const { source } = await rig();
    const older = await new TestClient().send(source, 'resources/read', { uri: 'mem://one' }).answer;
    expect(Object.keys(older.result).sort()).toEqual(['_meta', 'contents']);
    const meta = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: {} };
    const modern = await new TestClient({}, true).send(source, 'resources/read', {
      uri: 'mem://one',
      _meta: meta,
    }).answer;
    expect(modern.result).toMatchObject({ resultType: 'complete', ttlMs: 1000, cacheScope: 'public' });
  });

  test('has its own errors, and they pass as they are', async () => {
    const { source } = await rig();
    const client = new TestClient();
    expect((await client.send(source, 'resources/read', { uri: 'gone://x' }).answer).error).toEqual({
      code: -32602,
      message: 'Resource not found',
      data: { uri: 'gone://x' },
    });
    expect((await client.send(source, 'no/such').answer).error).toMatchObject({ code: -32601 });
    // It was only an answer; the server keeps running.
    expect(source.state.kind).toBe('running');
  });

  test('is not asked for what its era has no method for', async () => {
    const { source } = await rig();
    const client = new TestClient();
    expect(await client.send(source, 'ping').answer).toEqual({ result: {} });
    expect(await client.send(source, 'logging/setLevel', { level: 'info' }).answer).toEqual({ result: {} });
    const answer = await source.ask('logging/setLevel', { level: 'info' });
    expect(JSON.parse(answer.toString())).toMatchObject({ result: {} });
  });

  test('tells of a list that has changed', async () => {
    const { source, changed } = await rig();
    const before = await source.list('tools');
    await new TestClient().tool(source, 'grow').answer;
    await until(() => changed.includes('tools'));
    expect((await source.list('tools')).components.length).toBe(before.components.length + 1);
  });

  test('tells of a resource that somebody subscribed to, and of no other', async () => {
    const { source, updated } = await rig();
    const client = new TestClient();
    expect(await client.send(source, 'resources/subscribe', { uri: 'mem://one' }).answer).toEqual({
      result: {},
    });
    await source.ask('resources/subscribe', { uri: 'mem://two' });
    for (const uri of ['mem://one', 'mem://three', 'mem://two'])
      await client.tool(source, 'touch', { uri }).answer;
    await until(() => updated.length === 2);
    expect(updated.map(({ params }) => params)).toEqual([{ uri: 'mem://one' }, { uri: 'mem://two' }]);
    expect(await client.send(source, 'resources/unsubscribe', { uri: 'mem://one' }).answer).toEqual({
      result: {},
    });
    await until(async () => {
      await client.tool(source, 'touch', { uri: 'mem://two' }).answer;
      return updated.length > 2;
    });
    const heard = updated.length;
    await client.tool(source, 'touch', { uri: 'mem://one' }).answer;
    await client.tool(source, 'touch', { uri: 'mem://two' }).answer;
    await until(() => updated.length > heard);
    expect(updated.slice(2).every(({ params }) => params.uri === 'mem://two')).toBe(true);
  });

  test.each(['answer', 'cancel'])('is listened to again when it ends the stream (%s)', async (how) => {
    await listensAgain(await rig(), how);
  });

  test('is stopped when it is idle, though it is listened to, and not while a client is asked', async () => {
    const { source, starts } = await rig({ timeouts: { idleMs: 300 } });
    const client = new TestClient({ elicitation: {} });
    const { answer } = client.tool(source, 'ask');
    await until(() => client.asked.length === 1);
    const since = performance.now();
    await until(() => performance.now() - since > 1000);
    expect(source.state.kind).toBe('running');
    client.asked[0]!.answer({ action: 'decline' });
    await answer;
    await until(() => source.state.kind === 'idle');
    expect(starts()).toBe(1);
  });

  test('logs to the call that wanted it', async () => {
    const { source } = await rig();
    const client = new TestClient();
    expect(parsedText(await client.tool(source, 'log').answer)).toBe('no level');
    client.session.logLevel = 'info';
    expect(parsedText(await client.tool(source, 'log').answer)).toBe('info');
    expect(client.notifications).toEqual([
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'logged' } },
    ]);
  });

  test('is told that a call is cancelled', async () => {
    const { source } = await rig();
    const client = new TestClient();
    const { call } = client.tool(source, 'wait', { report: true }, { progressToken: 1 });
    await until(() => client.notifications.length === 1);
    call.cancel('Enough.');
    await until(async () => parsedText(await client.tool(source, 'cancelled').answer).length === 1);
  });

  test('gives a task to a modern client only', async () => {
    const { source } = await rig();
    const older = await new TestClient().tool(source, 'task').answer;
    expect(older.error).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^The call returned a task/),
    });
    const extensions = { extensions: { [`${META}tasks`]: {} } };
    const meta = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: extensions };
    const client = new TestClient(extensions, true);
    expect((await client.tool(source, 'task', {}, meta).answer).result).toMatchObject({
      resultType: 'task',
      taskId: 't-1',
    });
    const got = await client.send(source, 'tasks/get', { taskId: 't-1', _meta: meta }).answer;
    expect(got.result).toMatchObject({ taskId: 't-1', status: 'completed' });
  });
});

test('a stream that breaks off is opened again', async () => {
  const endpoint = await startModernServer();
  await listensAgain(overHttp(endpoint.url), 'cut');
  expect(endpoint.seen.filter(({ headers }) => 'last-event-id' in headers)).toEqual([]);
});

test('a server that is away for a while is listened to again, and is not lost for that', async () => {
  const endpoint = await startModernServer();
  const { source, changed, starts } = overHttp(endpoint.url);
  await source.ask('resources/subscribe', { uri: 'mem://one' });
  await endpoint.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(source.state.kind).toBe('running');
  await endpoint.again();
  await until(() => changed.includes('tools'));
  expect(starts()).toBe(1);
});

/** Ends the stream in some way, and waits until notifications arrive again. */
async function listensAgain({ source, changed, updated }: UpstreamHarness, how: string): Promise<void> {
  const client = new TestClient();
  await source.ask('resources/subscribe', { uri: 'mem://one' });
  await client.tool(source, 'hang_up', { how }).answer;
  // Nobody knows what happened between the two streams: the lists may have changed.
  await until(() => changed.includes('tools') && changed.includes('resources'));
  await client.tool(source, 'touch', { uri: 'mem://one' }).answer;
  await until(() => updated.length > 0);
}

test('requests of a modern program are refused, and told of once', async () => {
  const { source, log } = overStdio();
  const client = new TestClient({ roots: {} });
  for (let at = 0; at < 2; at++)
    expect(parsedText(await client.tool(source, 'demand').answer)).toMatchObject({ code: -32601 });
  expect(client.asked).toEqual([]);
  expect(log.filter((line) => line.includes('which its protocol version forbids'))).toHaveLength(1);
});

test('over HTTP nothing is posted but requests, and there is no session and no other stream', async () => {
  const endpoint = await startModernServer();
  const { source } = overHttp(endpoint.url);
  const client = new TestClient({ roots: {} });
  await client.tool(source, 'demand').answer;
  const { call } = client.tool(source, 'wait', { report: true }, { progressToken: 1 });
  await until(() => client.notifications.length === 1);
  call.cancel('Enough.');
  await client.tool(source, 'params').answer;
  await source.close();
  expect(
    endpoint.seen.every(
      ({ method, message }) => method === 'POST' && message.id !== undefined && message.method !== undefined,
    ),
  ).toBe(true);
  expect(endpoint.seen.some(({ headers }) => 'mcp-session-id' in headers || 'last-event-id' in headers)).toBe(
    false,
  );
});

test('a call that we answer ourselves can be cancelled, and others go on', async () => {
  const { source, starts } = overStdio(['--mute']);
  const client = new TestClient();
  // Waits for the start, and then for a confirmation that does not come.
  const { call } = client.send(source, 'resources/subscribe', { uri: 'mem://one' });
  await until(() => starts() === 1);
  call.cancel('Enough.');
  expect(parsedText(await client.tool(source, 'params').answer)).toHaveProperty('_meta');
  // A subscription that is not confirmed in time is answered anyway: the server may be slow.
  expect(await client.send(source, 'resources/subscribe', { uri: 'mem://two' }).answer).toEqual({
    result: {},
  });
});

test('a stream that listens is replaced by the next before it is given up', async () => {
  const journal = scratchFile('journal');
  const { source } = overStdio([`--journal=${journal}`]);
  await source.ask('resources/subscribe', { uri: 'mem://one' });
  await new TestClient().tool(source, 'params').answer;
  const lines = readFileSync(journal, 'utf8').trim().split('\n');
  const seen = lines.map((line) => JSON.parse(line));
  const about = seen.filter(({ method }) => /listen|cancelled/.test(method));
  expect(about.map(({ method }) => method)).toEqual([
    'subscriptions/listen',
    'subscriptions/listen',
    'notifications/cancelled',
  ]);
  expect(about[2].params.requestId).toBe(about[0].id);
  expect(about[1].params).toMatchObject({
    notifications: {
      toolsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['mem://one'],
    },
    _meta: { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientInfo`]: info },
  });
  expect(about[1].params.notifications).not.toHaveProperty('promptsListChanged');
});

test('over HTTP a log goes to the call on whose stream it came, however many want any', async () => {
  const { source } = overHttp((await startModernServer()).url);
  const clients = [new TestClient(), new TestClient(), new TestClient()];
  for (const client of clients) client.session.logLevel = 'info';
  const waits = clients.map((client) => client.tool(source, 'wait', { report: true }, { progressToken: 1 }));
  await until(() => clients.every(({ notifications }) => notifications.length === 1));
  await clients[1]!.tool(source, 'log').answer;
  expect(clients.map(({ notifications }) => notifications.length)).toEqual([1, 2, 1]);
  expect(clients[1]!.notifications[1].params).toEqual({ level: 'info', data: 'logged' });
  for (const { call } of waits) call.cancel(undefined);
});

test('several clients with calls under way: a log goes to the one that wanted any', async () => {
  const { source } = overStdio();
  const silent = new TestClient();
  const wanting = new TestClient();
  wanting.session.logLevel = 'info';
  const { call } = silent.tool(source, 'wait', { report: true }, { progressToken: 1 });
  await until(() => silent.notifications.length === 1);
  await wanting.tool(source, 'log').answer;
  expect(wanting.notifications).toHaveLength(1);
  expect(silent.notifications).toHaveLength(1);
  call.cancel(undefined);
});
