import { describe, expect, test } from 'vitest';
import { until } from '../../../test/helpers/until.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { LEGACY_VERSIONS, Meta, MODERN_VERSION, type JsonObject } from '../../protocol/index.ts';
import {
  holdCall,
  initializeRequest,
  JSON_HEADERS,
  openTestDoor,
  fromServer,
  TOKEN,
  type Reply,
} from './door.cases.ts';
import { modernCall, modernPost, modernRequest } from './modern-requests.cases.ts';
import { ROUTES } from './handlers.ts';

const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });

/** The response to a modern client must not mention a session. */
function expectNoSession({ headers }: Pick<Reply, 'headers'>): void {
  expect(headers['mcp-session-id']).toBeUndefined();
}

describe('a request', () => {
  test('is answered with JSON, without initialize and without a session', async () => {
    const { request, nextCall, clients, modern } = await openTestDoor();
    const answer = request(modernPost(modernCall(7)));
    (await nextCall()).succeed(text('done'));
    const reply = await answer;
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.json).toMatchObject({
      jsonrpc: '2.0',
      id: 7,
      result: { resultType: 'complete', ...text('done') },
    });
    expectNoSession(reply);
    expect(clients.opened).toBe(0);
    await until(() => modern.count.left === 1);
    expect(modern.count).toEqual({ opened: 1, left: 1 });
  });

  test('is the same whatever session it names', async () => {
    const { request, startSession } = await openTestDoor();
    for (const session of ['nonsense', await startSession()]) {
      const reply = await request(
        modernPost(modernRequest(1, 'server/discover'), { 'mcp-session-id': session }),
      );
      expect(reply.status).toBe(200);
      expect(reply.json.result).toMatchObject({ resultType: 'complete', capabilities: { tools: {} } });
      expect(reply.json.result.supportedVersions).toContain(MODERN_VERSION);
      expectNoSession(reply);
    }
  });

  test('and a session of the older era live side by side', async () => {
    const { request, startSession, post, nextCall } = await openTestDoor();
    const session = await startSession();
    const old = post(session, holdCall(1));
    const first = await nextCall();
    const young = request(modernPost(modernCall(1)));
    const second = await nextCall();
    second.succeed(text('modern'));
    expect((await young).json.result).toMatchObject({ resultType: 'complete', ...text('modern') });
    first.succeed(text('legacy'));
    expect((await old).json).toEqual({ jsonrpc: '2.0', id: 1, result: text('legacy') });
  });

  test('must accept both kinds of answer', async () => {
    const { request, modern } = await openTestDoor();
    const list = modernRequest(1, 'tools/list');
    expect((await request(modernPost(list, { accept: 'application/json' }))).status).toBe(406);
    expect((await request(modernPost(list, { accept: 'text/event-stream' }))).status).toBe(406);
    expect(modern.count.opened).toBe(0);
  });

  test('may not be too large', async () => {
    const { request, modern } = await openTestDoor({ limits: { bodyBytes: 2000 } });
    expect((await request(modernPost(modernCall(1, { filler: 'x'.repeat(2000) })))).status).toBe(413);
    expect(modern.count.opened).toBe(0);
  });

  test('that is no single message is refused', async () => {
    const { request } = await openTestDoor();
    const post = modernPost(modernRequest(1, 'tools/list'));
    expect((await request({ ...post, body: '{' })).json).toMatchObject({ error: { code: -32700 } });
    expect((await request({ ...post, body: `[${post.body as string}]` })).status).toBe(400);
  });
});

describe('a request that the era does not allow is refused:', () => {
  test.each<[string, Record<string, string | undefined>]>([
    ['MCP-Protocol-Version', { 'mcp-protocol-version': undefined }],
    ['MCP-Protocol-Version', { 'mcp-protocol-version': '2025-11-25' }],
    ['MCP-Protocol-Version', { 'mcp-protocol-version': '2031-01-01' }],
    ['Mcp-Method', { 'mcp-method': undefined }],
    ['Mcp-Method', { 'mcp-method': 'tools/list' }],
    ['Mcp-Name', { 'mcp-name': undefined }],
    ['Mcp-Name', { 'mcp-name': 'other' }],
    ['Mcp-Name', { 'mcp-name': '=?base64?***?=' }],
  ])('a wrong %s header, %j', async (header, headers) => {
    const { request, modern } = await openTestDoor();
    const reply = await request(modernPost(modernCall('a'), headers));
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ jsonrpc: '2.0', id: 'a', error: { code: -32020 } });
    expect(reply.json.error.message).toMatch(new RegExp(`^Header mismatch: the ${header} header .*\\.$`));
    expect(modern.count.opened).toBe(0);
  });

  test('a body of the era in a session of the other', async () => {
    const { startSession, post } = await openTestDoor();
    const reply = await post(await startSession(), modernCall(1));
    expect([reply.status, reply.json.error.code]).toEqual([400, -32020]);
  });

  test('headers of parameters that do not fit the arguments', async () => {
    const { request, nextCall, modern } = await openTestDoor({
      paramHeaders: (tool) => (tool === 'hold' ? [{ header: 'Region', path: ['region'] }] : []),
    });
    const call = modernCall(1, { arguments: { region: 'eu' } });
    for (const region of [undefined, 'us']) {
      const reply = await request(modernPost(call, { 'mcp-param-region': region }));
      expect([reply.status, reply.json.error.code]).toEqual([400, -32020]);
      expect(reply.json.error.message).toContain("'Mcp-Param-Region'");
    }
    expect(modern.count.opened).toBe(0);
    const answer = request(modernPost(call, { 'MCP-PARAM-REGION': 'eu' }));
    (await nextCall()).succeed(text('done'));
    expect((await answer).status).toBe(200);
  });

  test.each(['2031-01-01', '1999-01-01', 'draft', '2025-11-25'])('the version %s', async (version) => {
    const { request } = await openTestDoor();
    const message = modernRequest(1, 'tools/list', { _meta: { [Meta.protocolVersion]: version } });
    const reply = await request(modernPost(message, { 'mcp-protocol-version': version }));
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ id: 1, error: { code: -32022, data: { requested: version } } });
    expect(reply.json.error.data.supported).toEqual([MODERN_VERSION, ...LEGACY_VERSIONS]);
  });

  test('a version that only the header names, and nobody knows', async () => {
    const { request, clients, modern } = await openTestDoor();
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const reply = await request(modernPost(message, { 'mcp-protocol-version': '2031-01-01' }));
    expect(reply.status).toBe(400);
    expect(reply.json.error).toMatchObject({ code: -32022, data: { requested: '2031-01-01' } });
    expect([clients.opened, modern.count.opened]).toEqual([0, 0]);
  });

  test.each([
    ['everything', () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' })],
    ['the version', () => modernRequest(1, 'tools/list', { _meta: { [Meta.protocolVersion]: undefined } })],
    [
      'the version as a string',
      () => modernRequest(1, 'tools/list', { _meta: { [Meta.protocolVersion]: 7 } }),
    ],
    [
      'what the client can do',
      () => modernRequest(1, 'tools/list', { _meta: { [Meta.clientCapabilities]: undefined } }),
    ],
    ['it as an object', () => modernRequest(1, 'tools/list', { _meta: { [Meta.clientCapabilities]: [] } })],
  ])('an envelope without %s', async (_what, message) => {
    const { request } = await openTestDoor();
    const reply = await request(modernPost(message()));
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(reply.json.error.message).toContain('io.modelcontextprotocol/');
  });

  test('a listen without an envelope, as JSON', async () => {
    const { request } = await openTestDoor();
    const reply = await request(modernPost({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' }));
    expect([reply.status, reply.json.error.code]).toEqual([400, -32602]);
  });

  test.each(['nobody/knows', 'initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'tasks/list'])(
    'the method %s, which it does not have',
    async (method) => {
      const { request } = await openTestDoor();
      const reply = await request(modernPost(modernRequest(1, method)));
      expect(reply.status).toBe(404);
      expect(reply.json).toMatchObject({ id: 1, error: { code: -32601 } });
    },
  );
});

describe('an error', () => {
  test.each([
    [-32021, 400],
    [-32601, 200],
    [-32602, 200],
    [-32603, 200],
    [-32000, 200],
    [7, 200],
  ])('of a server with the code %d has the status %d', async (code, status) => {
    const { request, nextCall } = await openTestDoor();
    const answer = request(modernPost(modernCall(1)));
    const error = { code, message: 'So it is.', data: { code: -32601 } };
    (await nextCall()).relay(fromServer({ id: 99, error }));
    const reply = await answer;
    expect(reply.status).toBe(status);
    expect(reply.json).toEqual({ jsonrpc: '2.0', id: 1, error });
  });

  test('of ours is an answer like any other', async () => {
    const { request, nextCall } = await openTestDoor();
    const answer = request(modernPost(modernCall(1)));
    (await nextCall()).fail(new SwitchboardError('SERVER_LOST', 'It is gone.'));
    expect((await answer).status).toBe(200);
  });
});

describe('messages that are no request', () => {
  test.each(['notifications/cancelled', 'notifications/roots/list_changed', 'notifications/nobody/knows'])(
    '%s is taken and means nothing',
    async (method) => {
      const { request, nextCall, modern } = await openTestDoor();
      const answer = request(modernPost(modernCall(5)));
      const call = await nextCall();
      const reply = await request(modernPost({ jsonrpc: '2.0', method, params: { requestId: 5 } }));
      expect([reply.status, reply.text]).toEqual([202, '']);
      expect(call.open).toBe(true);
      call.succeed(text('done'));
      expect((await answer).json.result).toMatchObject(text('done'));
      expect(modern.count.opened).toBe(1);
    },
  );

  test.each([
    ['a result', { jsonrpc: '2.0', id: 1, result: {} }],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } }],
  ])('%s is refused', async (_what, message) => {
    const { request } = await openTestDoor();
    const reply = await request(modernPost(message));
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } });
    expect(reply.json).not.toHaveProperty('id');
  });

  test.each(['GET', 'DELETE'])('%s is no method of the era', async (method) => {
    const { request, startSession, door } = await openTestDoor();
    const session = await startSession();
    const headers = { 'mcp-protocol-version': MODERN_VERSION, 'mcp-session-id': session };
    const reply = await request({ method, path: '/mcp', headers });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
    expect(door.sessions).toBe(1);
  });
});

test('the header of a request decides its era, or else its body', async () => {
  const { request } = await openTestDoor();
  const carrying = modernRequest(1, 'tools/list');
  const bare = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const code = async (message: JsonObject, version: string | undefined): Promise<unknown> =>
    (await request(modernPost(message, { 'mcp-protocol-version': version }))).json.error?.code;
  expect(await code(carrying, MODERN_VERSION)).toBeUndefined();
  expect(await code(carrying, undefined)).toBe(-32020);
  expect(await code(bare, MODERN_VERSION)).toBe(-32602);
  // Answered with an error of the older era.
  expect(await code(bare, undefined)).toBe(-32600);
  expect(await code(bare, '2025-06-18')).toBe(-32600);
  const initialize = {
    method: 'POST',
    path: '/mcp',
    headers: JSON_HEADERS,
    body: JSON.stringify(initializeRequest()),
  };
  expect((await request(initialize)).headers['mcp-session-id']).toBeDefined();
});

describe('the guard', () => {
  const BAD: [string, number, Record<string, string | undefined>][] = [
    ['a foreign Host', 403, { host: 'evil.example' }],
    ['no Host', 403, { host: undefined }],
    ['a foreign Origin', 403, { origin: 'https://evil.example' }],
    ['no token', 401, { authorization: undefined }],
    ['a wrong token', 401, { authorization: `Bearer ${TOKEN}x` }],
  ];

  test.each(BAD)('lets no modern request in with %s, whatever the route', async (_what, status, headers) => {
    const { request, modern, clients } = await openTestDoor();
    const message = modernRequest(1, 'server/discover');
    for (const path of [...ROUTES.keys(), '/', '/nothing']) {
      for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'OPTIONS']) {
        const reply = await request({ ...modernPost(message, headers), method, path });
        expect([method, path, reply.status]).toEqual([method, path, status]);
      }
    }
    expect([modern.count.opened, clients.opened]).toEqual([0, 0]);
  });

  test('leaves modern requests no other route than the one', async () => {
    const { request, modern } = await openTestDoor();
    const post = modernPost(modernRequest(1, 'server/discover'));
    for (const path of [...ROUTES.keys(), '/', '/nothing']) {
      const reply = await request({ ...post, path });
      expect([path, reply.status === 200]).toEqual([path, path === '/mcp']);
    }
    expect(modern.count.opened).toBe(1);
  });
});

test('a hundred requests with one id get each its own answer', async () => {
  const { request, nextCall, modern } = await openTestDoor();
  const numbers = Array.from({ length: 100 }, (_, number) => number);
  const answers = numbers.map((n) => request(modernPost(modernCall('same', { arguments: { n } }))));
  const calls = await Promise.all(numbers.map(() => nextCall()));
  // In reverse, so that a test cannot pass because of the order.
  for (const call of calls.reverse()) {
    const { params } = JSON.parse(call.request.toString()) as { params: { arguments: { n: number } } };
    call.succeed(text(`canary ${params.arguments.n}`));
  }
  const replies = await Promise.all(answers);
  expect(replies.map(({ json }) => json.id)).toEqual(numbers.map(() => 'same'));
  expect(replies.map(({ json }) => json.result.content[0].text)).toEqual(numbers.map((n) => `canary ${n}`));
  await until(() => modern.count.left === 100);
});

test('no more requests are under way than there may be sessions', async () => {
  const { request, nextCall, modern } = await openTestDoor({ limits: { sessions: 2 } });
  const answers = [request(modernPost(modernCall(1))), request(modernPost(modernCall(2)))];
  const calls = [await nextCall(), await nextCall()];
  const refused = await request(modernPost(modernCall(3)));
  expect([refused.status, refused.headers['retry-after'], refused.json.id]).toEqual([503, '1', 3]);
  expect(refused.json.error.message).toContain('http.maxSessions');
  for (const call of calls) call.succeed(text('done'));
  await Promise.all(answers);
  await until(() => modern.count.left === 2);
  expect((await request(modernPost(modernRequest(4, 'tools/list')))).status).toBe(200);
});
