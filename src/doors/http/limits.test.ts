import { expect, test } from 'vitest';
import { createLogger } from '../../shared/log.ts';
import {
  holdCall,
  eventually,
  initializeRequest,
  openTestDoor,
  progress,
  TOKEN,
  type TestDoor,
  accessTokens,
} from './door.cases.ts';
import { openHttpDoor } from './door.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

const initializeReply = (test: TestDoor) =>
  test.post('', initializeRequest(), { headers: { 'mcp-session-id': undefined } });

test('there are no more sessions than allowed', async () => {
  const test = await openTestDoor({ limits: { sessions: 2 } });
  const first = await test.startSession();
  await test.startSession();
  const reply = await initializeReply(test);
  expect(reply.status).toBe(503);
  expect(reply.headers['retry-after']).toMatch(/^\d+$/);
  expect(reply.json.error.message).toContain('http.maxSessions');
  expect((await test.request({ path: '/sse' })).status).toBe(503);
  expect((await test.post(first, PING)).status).toBe(200);
});

test('one that nobody has used for a while makes room, the idlest first, but none that is in use', async () => {
  const test = await openTestDoor({ limits: { sessions: 3 }, timeouts: { evictMs: 0 } });
  const busy = await test.startSession();
  const waiting = test.post(busy, holdCall(1));
  const call = await test.nextCall();
  const listening = await test.startSession();
  await test.listen(listening);
  const idle = await test.startSession();
  const newest = await test.startSession();
  expect((await test.post(idle, PING)).status).toBe(404);
  expect((await test.post(newest, PING)).status).toBe(200);
  call.succeed({});
  expect((await waiting).status).toBe(200);
});

test('an unused session is closed after a while, one in use is not', async () => {
  let emptied = 0;
  const test = await openTestDoor({
    limits: { sessionIdleMs: 3000 },
    timeouts: { tickMs: 10 },
    emptied: () => emptied++,
  });
  const kept = await test.startSession();
  const listening = await test.listen(kept);
  await test.startSession();
  await eventually(() => test.door.sessions === 1);
  expect((await test.post(kept, PING)).status).toBe(200);
  expect(emptied).toBe(0);
  listening.hangUp();
  await eventually(() => test.door.sessions === 0);
  expect(emptied).toBe(1);
  expect(test.clients).toEqual({ opened: 2, closed: 2 });
});

test('while draining, the door refuses new requests and finishes running ones', async () => {
  const test = await openTestDoor();
  const session = await test.startSession();
  const waiting = test.post(session, holdCall(1));
  const call = await test.nextCall();
  const draining = test.door.drain(20_000);
  const refused = await test.post(session, holdCall(2));
  expect([refused.status, refused.json.id, refused.headers['retry-after']]).toEqual([503, 2, '5']);
  expect((await initializeReply(test)).status).toBe(503);
  expect((await test.post(session, { jsonrpc: '2.0', method: 'notifications/x' })).status).toBe(202);
  expect((await test.request({ path: '/status' })).json.status).toBe('stopping');
  const readiness = await test.request({ path: '/readyz' });
  expect([readiness.status, readiness.json]).toEqual([503, { status: 'stopping' }]);
  expect((await test.request({ path: '/healthz' })).status).toBe(200);
  call.succeed({ ok: true });
  await draining;
  expect((await waiting).json.result).toEqual({ ok: true });
});

test('requests that do not finish in time get an error, also on a stream', async () => {
  const test = await openTestDoor();
  const session = await test.startSession();
  const plain = test.post(session, holdCall(1));
  await test.nextCall();
  const opening = test.stream(session, holdCall(2, 't'));
  const call = await test.nextCall();
  call.notify(progress('t', 1), []);
  const events = await opening;
  await events.next();
  await test.door.drain(1);
  await test.door.close();
  expect(JSON.stringify((await plain).json)).toContain('stopping');
  expect((await events.next())!.data).toContain('stopping');
});

test('a client that does not read is disconnected after a while, which is logged', async () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', program: 'x', write: (line) => lines.push(line) });
  const test = await openTestDoor({ log, timeouts: { tickMs: 10, stallMs: 3000 } });
  const session = await test.startSession();
  const listening = await test.listen(session);
  const done = test.post(session, holdCall(1));
  const call = await test.nextCall();
  call.succeed({});
  await done;
  listening.response.pause();
  listening.response.socket.pause();
  const { client } = call.session;
  for (let n = 0; n < 200 && !client.congested; n++) {
    client.notify(`notifications/${'x'.repeat(200_000)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The core learns of it first.
  expect(client.congested).toBe(true);
  await eventually(() => test.door.sessions === 0);
  expect(lines.join('')).toContain('does not read');
  expect(lines.join('')).not.toContain(session);
  expect(test.clients.closed).toBe(1);
});

test('a client that reads slowly gets everything', async () => {
  const test = await openTestDoor();
  const session = await test.startSession();
  const listening = await test.listen(session);
  const done = test.post(session, holdCall(1));
  const call = await test.nextCall();
  call.succeed({});
  await done;
  listening.response.pause();
  const { client } = call.session;
  let sent = 0;
  for (; sent < 200 && !client.congested; sent++) {
    client.notify(`notifications/${'x'.repeat(200_000)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const drained = new Promise<void>((resolve) => client.whenDrained(resolve));
  listening.response.resume();
  await drained;
  await listening.until(() => listening.events.length === sent);
  expect(client.congested).toBe(false);
});

test('an answer that waits behind an earlier one on its connection holds up nothing', async () => {
  const test = await openTestDoor();
  const session = await test.startSession();
  const { socket, sees } = await test.connect();
  const post = (id: number): string => {
    const body = JSON.stringify(holdCall(id));
    return (
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n` +
      `Content-Type: application/json\r\nMcp-Session-Id: ${session}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    );
  };
  socket.write(post(1) + post(2));
  const [first, second] = [await test.nextCall(), await test.nextCall()];
  second.succeed({ large: 'x'.repeat(8 * 1024 * 1024) });
  // Enough to pause for, but the client cannot read it yet.
  expect(first.session.client.congested).toBe(false);
  first.succeed({ small: 'done' });
  await sees('"small":"done"');
  await sees('"large":"xxx');
});

test('the errors for a taken port and for a foreign address name it', async () => {
  const { door, modern } = await openTestDoor();
  const open = (host: string, port: number) =>
    openHttpDoor({
      host,
      port,
      guard: { tokens: accessTokens(TOKEN), allowedHosts: [], allowedOrigins: [] },
      limits: { bodyBytes: 1, sessions: 1, sessionIdleMs: 1 },
      log: createLogger({ level: 'silent', program: '', write: () => undefined }),
      open: () => {
        throw new Error('nobody comes');
      },
      modern,
      status: () => ({}),
    });
  await expect(open('127.0.0.1', door.port)).rejects.toMatchObject({
    code: 'PORT_TAKEN',
    message: expect.stringContaining(`127.0.0.1:${door.port}`),
  });
  await expect(open('192.0.2.1', 0)).rejects.toMatchObject({ code: 'ADDRESS_UNUSABLE' });
  expect(door.url).toBe(`http://127.0.0.1:${door.port}/mcp`);
});

test('a door that is closed ends its sessions and connections, and its port is free', async () => {
  const test = await openTestDoor();
  const session = await test.startSession();
  const listening = await test.listen(session);
  const idle = await test.connect();
  await test.door.close();
  await idle.closed;
  expect(await listening.next()).toBeUndefined();
  expect(test.clients).toEqual({ opened: 1, closed: 1 });
  await expect(test.request({ path: '/status' })).rejects.toThrow('ECONNREFUSED');
});
