import { expect, test } from 'vitest';
import { eventually, initializeRequest, openTestDoor, TOKEN, type TestDoor } from './door.cases.ts';

const NO_SESSION = { headers: { 'mcp-session-id': undefined } };

async function openCounted(options: Parameters<typeof openTestDoor>[0] = {}) {
  const counted = { emptied: 0 };
  const test = await openTestDoor({ ...options, emptied: () => counted.emptied++ });
  return { test, counted };
}

const leave = (test: TestDoor, session: string) =>
  test.request({ method: 'DELETE', path: '/mcp', headers: { 'mcp-session-id': session } });

test('a client whose initialize fails is none that leaves', async () => {
  const { test, counted } = await openCounted();
  const bad = { jsonrpc: '2.0', id: 1, method: 'initialize', params: 5 };
  expect((await test.post('', bad, NO_SESSION)).json.error.code).toBe(-32602);
  const events = await test.open({ path: '/sse' });
  expect(test.door.sessions).toBe(1);
  events.hangUp();
  await eventually(() => test.door.sessions === 0);
  expect(counted.emptied).toBe(0);
  await leave(test, await test.startSession());
  expect(counted.emptied).toBe(1);
  await test.post('', bad, NO_SESSION);
  expect(counted.emptied).toBe(1);
});

test('neither is one that does not stay for the answer to its initialize request', async () => {
  const { test, counted } = await openCounted();
  const { socket } = await test.connect();
  const body = JSON.stringify(initializeRequest());
  const auth = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
  // The stream in front of it keeps its answer from being sent.
  socket.write(
    `GET /sse HTTP/1.1\r\n${auth}\r\n` +
      `POST /mcp HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually(() => test.door.sessions === 2);
  socket.destroy();
  await eventually(() => test.door.sessions === 0);
  expect(counted.emptied).toBe(0);
});

test('a client of HTTP+SSE that was initialized is one', async () => {
  const { test, counted } = await openCounted();
  const events = await test.open({ path: '/sse' });
  const path = (await events.next())!.data!;
  const headers = { 'content-type': 'application/json' };
  await test.request({ method: 'POST', path, headers, body: JSON.stringify(initializeRequest()) });
  await events.next();
  events.hangUp();
  await eventually(() => test.door.sessions === 0);
  expect(counted.emptied).toBe(1);
});

test('one that makes room for another was not the last', async () => {
  const { test, counted } = await openCounted({ limits: { sessions: 1 }, timeouts: { evictMs: 0 } });
  const first = await test.startSession();
  const second = await test.startSession();
  expect((await leave(test, first)).status).toBe(404);
  expect(counted.emptied).toBe(0);
  await leave(test, second);
  expect(counted.emptied).toBe(1);
});

test('the last has left when who is still trying has failed, too', async () => {
  const { test, counted } = await openCounted();
  const session = await test.startSession();
  const trying = await test.open({ path: '/sse' });
  await leave(test, session);
  expect(counted.emptied).toBe(0);
  trying.hangUp();
  await eventually(() => counted.emptied === 1);
});
