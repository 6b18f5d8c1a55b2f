import { expect, test } from 'vitest';
import {
  accessTokens,
  holdCall,
  openTestDoor,
  JSON_HEADERS,
  TOKEN,
  type RequestOptions,
} from './door.cases.ts';
import { ROUTES } from './handlers.ts';

const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'OPTIONS', 'HEAD', 'PATCH'];
const PATHS = [...ROUTES.keys(), '/', '/mcp/', '/nothing', `/mcp?token=${TOKEN}`];

const EVERYTHING: RequestOptions[] = PATHS.flatMap((path) => METHODS.map((method) => ({ method, path })));

const BAD: [string, number, Record<string, string | undefined>][] = [
  ['a foreign Host', 403, { host: 'evil.example' }],
  ['a foreign Host with a good port', 403, { host: 'evil.example:80' }],
  ['a Host that only begins well', 403, { host: '127.0.0.1.evil.example' }],
  ['a Host that only begins like localhost', 403, { host: 'localhost.evil.example' }],
  ['no Host', 403, { host: undefined }],
  ['a foreign Origin', 403, { origin: 'https://evil.example' }],
  ['the Origin null', 403, { origin: 'null' }],
  ['an Origin on this computer that nobody allowed', 403, { origin: 'http://localhost:1234' }],
  ['no token', 401, { authorization: undefined }],
  ['a wrong token', 401, { authorization: `Bearer ${TOKEN}x` }],
  ['an empty token', 401, { authorization: 'Bearer ' }],
  ['the token in another scheme', 401, { authorization: `Basic ${TOKEN}` }],
  ['the token alone', 401, { authorization: TOKEN }],
];

test.each(BAD)('every path and method refuses %s', async (_what, status, headers) => {
  const { request, clients } = await openTestDoor();
  for (const each of EVERYTHING) {
    const reply = await request({ ...each, headers });
    expect([each.method, each.path, reply.status]).toEqual([each.method, each.path, status]);
    expect(reply.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
  expect(clients.opened).toBe(0);
});

test('a refusal is a JSON-RPC error that names the setting and repeats nothing', async () => {
  const { request } = await openTestDoor();
  const said = async (headers: Record<string, string | undefined>): Promise<string> => {
    const { json, text } = await request({ path: '/mcp', headers });
    expect(json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } });
    expect(text).not.toMatch(/evil|secret/);
    return json.error.message as string;
  };
  expect(await said({ host: 'evil.example' })).toContain('http.allowedHosts');
  const origin = await said({ origin: 'https://evil.example' });
  expect(origin).toContain('http.allowedOrigins');
  // Allowing a page's origin would not help that page.
  expect(origin).toMatch(/Web pages cannot connect.*CORS/);
  expect(await said({ authorization: 'Bearer secret' })).toContain('http.token');
  expect(await said({ authorization: 'secret' })).toContain('does not begin with "Bearer "');
  // The error says where to find the token, whatever is wrong with the header.
  for (const authorization of [undefined, 'secret', 'Bearer secret'])
    expect(await said({ authorization })).toMatch(/http\.token.*--show-token/);
});

test.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '127.8.9.10:8080', '[::1]', '[::1]:3000'])(
  'the loopback name %s is let in',
  async (host) => {
    const { request } = await openTestDoor();
    expect((await request({ path: '/status', headers: { host } })).status).toBe(200);
  },
);

test.each(['127.0.0.256', '127.1', '[::2]', '0.0.0.0', 'localhost.', '127.0.0.1@evil', ' ', 'a:b:c'])(
  'the name %j is not',
  async (host) => {
    const { request } = await openTestDoor();
    expect((await request({ path: '/status', headers: { host } })).status).toBe(403);
  },
);

test('names and origins that were allowed are let in, exactly', async () => {
  const { request } = await openTestDoor({
    guard: {
      tokens: accessTokens(TOKEN),
      allowedHosts: ['Box.example', 'other.example:8080'],
      allowedOrigins: ['https://app.example'],
    },
  });
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await request({ path: '/status', headers })).status;
  expect(await status({ host: 'box.EXAMPLE:9' })).toBe(200);
  expect(await status({ host: 'other.example:8080' })).toBe(200);
  expect(await status({ host: 'other.example:8081' })).toBe(403);
  expect(await status({ origin: 'https://app.example' })).toBe(200);
  expect(await status({ origin: 'https://app.example:444' })).toBe(403);
  expect(await status({ origin: 'http://app.example' })).toBe(403);
  expect(await status({ origin: 'https://app.example', authorization: 'Bearer no' })).toBe(401);
});

test('admitted requests are routed by path and method, and errors name the allowed methods', async () => {
  const { request } = await openTestDoor();
  expect((await request({ path: '/nothing' })).status).toBe(404);
  for (const [path, methods] of ROUTES) {
    const { status, headers } = await request({ method: 'PUT', path });
    expect([path, status, headers.allow]).toEqual([path, 405, [...methods.keys()].join(', ')]);
  }
  const status = await request({ path: '/status?x=1' });
  expect(status.json).toEqual({ status: 'ok', sessions: 0, servers: 0 });
});

const OTHER = 'another-token-for-tests-0123456789';

test('a session belongs to the token that opened it', async () => {
  const tokens = accessTokens(TOKEN, OTHER);
  const { request, startSession } = await openTestDoor({
    guard: { tokens, allowedHosts: [], allowedOrigins: [] },
  });
  const session = await startSession();
  const headers = { ...JSON_HEADERS, 'mcp-session-id': session };
  const ping = { method: 'POST', path: '/mcp', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
  expect((await request({ ...ping, headers })).status).toBe(200);
  const other = { ...headers, authorization: `Bearer ${OTHER}` };
  expect((await request({ ...ping, headers: other })).status).toBe(404);
  expect((await request({ path: '/mcp', headers: { ...other, accept: 'text/event-stream' } })).status).toBe(
    404,
  );
  expect((await request({ method: 'DELETE', path: '/mcp', headers: other })).status).toBe(404);
  expect((await request({ ...ping, headers })).status).toBe(200);
});

test('a token that was just created is let in, and a revoked one is not, with all that it opened', async () => {
  const tokens = accessTokens(TOKEN);
  const { request, startSession, listen, stream, nextCall, clients } = await openTestDoor({
    guard: { tokens, allowedHosts: [], allowedOrigins: [] },
  });
  const status = async (token: string): Promise<number> =>
    (await request({ path: '/status', headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status(OTHER)).toBe(401);
  tokens.change(TOKEN, OTHER);
  expect(await status(OTHER)).toBe(200);
  const session = await startSession();
  const listening = await listen(session);
  const calling = stream(session, holdCall(1));
  await nextCall();
  tokens.change(OTHER);
  tokens.refresh();
  expect(await listening.next()).toBeUndefined();
  expect((await calling).status).toBe(404);
  expect(clients.closed).toBe(1);
  expect([await status(TOKEN), await status(OTHER)]).toEqual([401, 200]);
});

test('a request whose token is revoked while its body is read is refused', async () => {
  const tokens = accessTokens(TOKEN, OTHER);
  const { connect, door, clients } = await openTestDoor({
    guard: { tokens, allowedHosts: [], allowedOrigins: [] },
  });
  const body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}';
  const connection = await connect();
  connection.socket.write(
    `POST /mcp HTTP/1.1\r\nHost: localhost:${door.port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
      `Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n` +
      `Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await connection.sees('100 Continue');
  tokens.change(OTHER);
  tokens.refresh();
  connection.socket.write(body);
  await connection.sees('revoked');
  expect(clients.opened).toBe(0);
});
