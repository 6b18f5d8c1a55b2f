import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/helpers/until.ts';
import { flat } from '../../exposure/index.ts';
import { Gateway, type CatalogEntry } from '../../gateway/index.ts';
import { createChildProcesses } from '../../process/index.ts';
import { CATALOG_KINDS, MODERN_VERSION, type JsonObject } from '../../protocol/index.ts';
import { Deadlines } from '../../shared/deadline.ts';
import { silentLogger } from '../../shared/log.ts';
import { ServerSource } from '../../upstream/index.ts';
import { testUpstreamContext } from '../../../test/helpers/upstream-context.ts';
import type { HttpDoor } from './door.ts';
import { openTestDoor, TOKEN, type TestDoor } from './door.cases.ts';
import type { RepeatedParam } from './modern-headers.ts';
import { modernPost, modernRequest } from './modern-requests.cases.ts';
import { countedEndpoint, type CountedEndpoint } from './modern-endpoint.cases.ts';

interface DoorHarness {
  readonly door: HttpDoor;
  readonly endpoint: CountedEndpoint;
  readonly request: TestDoor['request'];
}

/** A door to a gateway with one real server of the older era, reached over stdin and stdout. */
async function openDoorTo(
  args: readonly string[],
  paramHeaders: (tool: string) => readonly RepeatedParam[] = () => [],
): Promise<DoorHarness> {
  const children = createChildProcesses({ log: silentLogger });
  const source = new ServerSource(
    {
      name: 'child',
      target: {
        kind: 'process',
        command: process.execPath,
        args: args.map((arg) => (arg.endsWith('.mjs') ? `test/servers/${arg}` : arg)),
        cwd: process.cwd(),
        env: () => process.env as Record<string, string>,
        shown: { command: 'node', cwd: '.' },
        framing: 'newline',
      },
      timeouts: { childSpawnMs: 20_000, rpcMs: 20_000, callMaxMs: 60_000, idleMs: 'never' },
      limits: { messageBytes: 1 << 24, callsInFlight: 64, callsQueued: 1000 },
    },
    testUpstreamContext(children, {
      identity: () => ({ clientInfo: { name: 'test', version: '1' }, capabilities: declared(gateway) }),
    }),
    new Deadlines(),
  );
  const entry: CatalogEntry = {
    source,
    rules: { allows: () => true, overrides: new Map() },
    exposure: flat('plain'),
    offers: new Set(CATALOG_KINDS),
    naming: 'plain',
  };
  const gateway: Gateway = new Gateway({ entries: [entry] });
  onTestFinished(async () => {
    await gateway.close();
    await children.stopAll({ term: 0, kill: 500 });
  });
  const identity = { name: 'gateway', title: 'Gateway', version: '1', instructions: () => 'Be kind.' };
  const endpoint = countedEndpoint(gateway, identity);
  const { door, request } = await openTestDoor({ modern: endpoint, paramHeaders });
  return { door, endpoint, request };
}

/** The combined capabilities of all clients of a gateway. */
function declared({ sessions }: Gateway): JsonObject {
  return Object.assign({}, ...[...sessions].map(({ client }) => client.capabilities)) as JsonObject;
}

/** The official client, connected. */
async function connect(
  { door }: DoorHarness,
  prepare: (client: Client) => void = () => undefined,
  mode: 'auto' | { pin: string } = { pin: MODERN_VERSION },
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
      versionNegotiation: { mode },
    },
  );
  onTestFinished(() => client.close());
  prepare(client);
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(door.url), { requestInit }));
  return client;
}

async function call(client: Client, name: string, args: object = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: { ...args } });
  return (content[0] as { text: string }).text;
}

/** A schema that accepts everything. */
const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};

test.each(['auto', { pin: MODERN_VERSION }] as const)(
  'the official client comes along with the mode %j',
  async (mode) => {
    const harness = await openDoorTo(['echo.mjs']);
    const client = await connect(harness, undefined, mode);
    expect(client.getProtocolEra()).toBe('modern');
    expect(client.getInstructions()).toBe('Be kind.');
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(await call(client, 'echo', { text: 'Grüße 世界' })).toBe('Grüße 世界');
    expect(await client.callTool({ name: 'fail', arguments: { message: 'no' } })).toMatchObject({
      isError: true,
    });
    await expect(client.callTool({ name: 'reject', arguments: { code: -32001 } })).rejects.toMatchObject({
      code: -32001,
    });
    await expect(client.callTool({ name: 'reject', arguments: { code: -32601 } })).rejects.toMatchObject({
      code: -32601,
    });
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
    // The client looks only at the status, so the status has to be right.
    await expect(client.request({ method: 'nobody/knows' }, anything)).rejects.toThrow('-32601');
    expect(harness.door.sessions).toBe(0);
  },
);

test('requests of a server become input requests, which the client answers by itself', async () => {
  const harness = await openDoorTo(['asks.mjs']);
  const client = await connect(harness, (each) => {
    each.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
    each.setRequestHandler('sampling/createMessage', () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'sampled' },
    }));
    each.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///here', name: 'here' }] }));
  });
  expect(JSON.parse(await call(client, 'ask_elicitation'))).toMatchObject({
    result: { action: 'accept', content: { name: 'Ada' } },
  });
  expect(await call(client, 'ask_sampling')).toContain('sampled');
  expect(await call(client, 'ask_roots')).toContain('file:///here');
  expect(harness.endpoint.suspended).toBe(0);
});

test('a question that may be anybody’s is put to nobody', async () => {
  const harness = await openDoorTo(['asks.mjs']);
  let answer: () => void = () => undefined;
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const first = await connect(harness, (each) =>
    each.setRequestHandler('elicitation/create', async () => {
      asked();
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { action: 'accept', content: { name: 'first' } };
    }),
  );
  const second = await connect(harness, (each) =>
    each.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'second' } })),
  );
  const waiting = call(first, 'ask_elicitation');
  await isAsked;
  expect(JSON.parse(await call(second, 'ask_elicitation'))).toHaveProperty('error');
  answer();
  expect(await waiting).toContain('first');
});

test('progress is heard on the way', async () => {
  const client = await connect(await openDoorTo(['progress.mjs']));
  const heard: number[] = [];
  await client.callTool(
    { name: 'steps', arguments: { n: 3, ms: 50 } },
    { onprogress: ({ progress }) => heard.push(progress) },
  );
  // The client drops progress that arrives together with the answer.
  expect(heard.slice(0, 2)).toEqual([1, 2]);
});

test('a client that gives up on a call cancels it, down to the server', async () => {
  const harness = await openDoorTo(['slow.mjs']);
  const client = await connect(harness);
  const control = new AbortController();
  const hanging = client.callTool({ name: 'hang' }, { signal: control.signal });
  await until(async () => (await call(client, 'running_count')) === '1', { what: 'the call to run' });
  control.abort();
  await expect(hanging).rejects.toThrow();
  await until(async () => (await call(client, 'cancelled_count')) === '1', { what: 'the cancellation' });
  expect(JSON.parse(await call(client, 'cancellations'))).toMatchObject([{ known: true }]);
});

test('a client that vanishes with its connection has cancelled what it waits for', async () => {
  const harness = await openDoorTo(['slow.mjs']);
  const [leaving, staying] = [await connect(harness), await connect(harness)];
  const hanging = leaving.callTool({ name: 'hang' });
  hanging.catch(() => undefined);
  await until(async () => (await call(staying, 'running_count')) === '1', { what: 'the call to run' });
  await leaving.close();
  await until(async () => (await call(staying, 'cancelled_count')) === '1', { what: 'the cancellation' });
});

test('a client that listens gets changes of lists and resources, until the door stops', async () => {
  const harness = await openDoorTo(['offering.mjs', '--resources=mem://one,mem://two']);
  const seen: string[] = [];
  const client = await connect(harness, (each) => {
    each.setNotificationHandler('notifications/tools/list_changed', () => void seen.push('tools'));
    each.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void seen.push(params.uri),
    );
  });
  await client.listTools();
  const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['mem://one'] });
  expect(subscription.honoredFilter).toEqual({
    toolsListChanged: true,
    resourceSubscriptions: ['mem://one'],
  });
  expect(JSON.parse(await call(client, 'state'))).toMatchObject({ subscribed: ['mem://one'] });
  await call(client, 'touch', { uri: 'mem://two' });
  await call(client, 'touch', { uri: 'mem://one' });
  await until(() => seen.includes('mem://one'), { what: 'the update' });
  await call(client, 'add', { kind: 'tool', names: ['grown'] });
  await until(() => seen.includes('tools'), { what: 'the new tool' });
  expect(seen).not.toContain('mem://two');
  const other = await client.listen({ promptsListChanged: true });
  await other.close();
  expect(await other.closed).toBe('local');
  await harness.door.drain(10_000);
  expect(await subscription.closed).toBe('graceful');
});

test('a client that stops listening is not subscribed any more', async () => {
  const harness = await openDoorTo(['offering.mjs', '--resources=mem://one']);
  const client = await connect(harness);
  const subscription = await client.listen({ resourceSubscriptions: ['mem://one'] });
  await subscription.close();
  await until(async () => (await call(client, 'state')).includes('"subscribed":[]'), {
    what: 'the end of it',
  });
});

test('parameters that a tool wants in headers are sent there and checked', async () => {
  const harness = await openDoorTo(['conformance.mjs', '--era=legacy'], (tool) =>
    tool === 'test_x_mcp_header' ? [{ header: 'Region', path: ['region'] }] : [],
  );
  const client = await connect(harness);
  await client.listTools();
  expect(await call(client, 'test_x_mcp_header', { region: 'Grüße' })).toContain('Grüße');
  const message = modernRequest(1, 'tools/call', { name: 'test_x_mcp_header', arguments: { region: 'eu' } });
  expect((await harness.request(modernPost(message))).json.error.code).toBe(-32020);
});

test('a hundred requests with one id go through one server and come back to their senders', async () => {
  const { request, endpoint } = await openDoorTo(['echo.mjs']);
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      request(modernPost(modernRequest(1, 'tools/call', { name: 'canary', arguments: { n } }))),
    ),
  );
  expect(replies.map(({ json }) => json.result?.content[0].text)).toEqual(
    Array.from({ length: 100 }, (_, n) => `canary ${n}`),
  );
  await until(() => endpoint.count.left === 100, { what: 'all to be over' });
});
