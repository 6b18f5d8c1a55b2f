import { once } from 'node:events';
import { connect as connectTo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { holdCall, eventually, initializeRequest, openTestDoor, TOKEN } from './door.cases.ts';

const GOOD = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
const JSON_POST = `POST /mcp HTTP/1.1\r\n${GOOD}Content-Type: application/json\r\n`;

test('a request with two Host headers is refused', async () => {
  const { connect } = await openTestDoor();
  const { socket, sees, closed, received } = await connect();
  socket.write(`GET /status HTTP/1.1\r\n${GOOD}Host: evil.example\r\n\r\n`);
  await sees('HTTP/1.1 403');
  await closed;
  expect(received()).not.toContain('evil');
});

test('so is one with two tokens, or two origins', async () => {
  const { connect } = await openTestDoor();
  for (const doubled of [
    `Authorization: Bearer ${TOKEN}`,
    'Origin: http://a.example\r\norigin: http://a.example',
  ]) {
    const { socket, sees, closed } = await connect();
    socket.write(`GET /status HTTP/1.1\r\n${GOOD}${doubled}\r\n\r\n`);
    await sees('HTTP/1.1 403');
    await closed;
  }
});

test('a request target with a host is refused, and so is one without a path', async () => {
  const { connect } = await openTestDoor();
  for (const line of ['GET http://evil.example/status', 'GET http://localhost/status', 'OPTIONS *']) {
    const { socket, sees } = await connect();
    socket.write(`${line} HTTP/1.1\r\n${GOOD}\r\n`);
    await sees('HTTP/1.1 400');
  }
});

test('HTTP/1.0 without a Host is refused', async () => {
  const { connect } = await openTestDoor();
  const { socket, sees } = await connect();
  socket.write(`GET /status HTTP/1.0\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
  await sees('HTTP/1.1 403');
});

test('requests sent together are answered one after the other', async () => {
  const { connect } = await openTestDoor();
  const { socket, sees, received } = await connect();
  const body = JSON.stringify(initializeRequest());
  const post = `${JSON_POST}Content-Length: ${body.length}\r\n\r\n${body}`;
  socket.write(`${post}${post}GET /status HTTP/1.1\r\n${GOOD}\r\n`);
  await sees('"status":"ok"');
  expect(received().match(/HTTP\/1\.1 200/g)).toHaveLength(3);
});

test('the session of a stream that waits for its turn ends with the connection', async () => {
  const { connect, startSession, door, clients } = await openTestDoor();
  const session = await startSession();
  const { socket } = await connect();
  const listen = `GET /mcp HTTP/1.1\r\n${GOOD}Mcp-Session-Id: ${session}\r\n\r\n`;
  socket.write(`${listen}GET /sse HTTP/1.1\r\n${GOOD}\r\n`);
  await eventually(() => door.sessions === 2);
  socket.destroy();
  await eventually(() => door.sessions === 1);
  expect(clients.closed).toBe(1);
});

test('so does one whose initialize request waits', async () => {
  const { connect, door } = await openTestDoor();
  const { socket } = await connect();
  const body = JSON.stringify(initializeRequest());
  socket.write(`GET /sse HTTP/1.1\r\n${GOOD}\r\n${JSON_POST}Content-Length: ${body.length}\r\n\r\n${body}`);
  await eventually(() => door.sessions === 2);
  socket.destroy();
  await eventually(() => door.sessions === 0);
});

test('nothing is sent to a listener that waits on a connection that is gone', async () => {
  const { connect, startSession, listen, post, nextCall, door } = await openTestDoor();
  const session = await startSession();
  const done = post(session, holdCall(1));
  const call = await nextCall();
  call.succeed({});
  await done;
  const { socket } = await connect();
  const sse = `GET /sse HTTP/1.1\r\n${GOOD}\r\n`;
  const listening = `GET /mcp HTTP/1.1\r\n${GOOD}Mcp-Session-Id: ${session}\r\n\r\n`;
  socket.write(sse + listening + sse);
  await eventually(() => door.sessions === 3);
  socket.destroy();
  await eventually(() => door.sessions === 1);
  call.session.client.notify('notifications/hello');
  // Everything before it on this connection has been handled when this is answered.
  await post(session, { jsonrpc: '2.0', id: 2, method: 'ping' });
  expect((await (await listen(session)).next())!.json.method).toBe('notifications/hello');
});

test('a token that was right is looked at again with every request', async () => {
  const { connect } = await openTestDoor();
  const { socket, sees, received, closed } = await connect();
  const ask = (token: string) =>
    socket.write(`GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\n\r\n`);
  ask(`Bearer ${TOKEN}`);
  ask(`bearer  ${TOKEN}`);
  ask(`Bearer ${TOKEN}`);
  ask(`Bearer ${TOKEN.slice(0, -1)}x`);
  await sees('HTTP/1.1 401');
  await closed;
  expect(received().match(/HTTP\/1\.1 200/g)).toHaveLength(3);
});

test('headers that do not come to an end cost the connection', async () => {
  const { connect } = await openTestDoor({ timeouts: { headersMs: 200 } });
  const { socket, closed, received } = await connect();
  socket.write(`GET /status HTTP/1.1\r\nHost: loc`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 408 /);
});

test('also where the client keeps its side of it open', async () => {
  const { door } = await openTestDoor({ timeouts: { headersMs: 200 } });
  const sockets = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const before = sockets();
  for (const part of ['', 'GET / HTT']) {
    const socket = connectTo({ port: door.port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.write(part);
    await once(socket.resume(), 'end');
  }
  // Our two ends of the connections are left; the door has none.
  await eventually(() => sockets() <= before + 2);
});

test('and so does a body that does not', async () => {
  const { connect } = await openTestDoor({ timeouts: { headersMs: 200, bodyMs: 400 } });
  const { socket, closed, received } = await connect();
  socket.write(`${JSON_POST}Content-Length: 100\r\n\r\n{`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 408 /);
});

test('a body of which nothing arrives any more is answered 408; one that arrives slowly is read', async () => {
  const { connect } = await openTestDoor({ timeouts: { bodyStallMs: 1000, tickMs: 50 } });
  const [stalled, slow] = [await connect(), await connect()];
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const ask = `${JSON_POST}Content-Length: ${body.length}\r\n\r\n`;
  stalled.socket.write(`${ask}${body.slice(0, 9)}`);
  slow.socket.write(ask);
  for (const byte of body) {
    slow.socket.write(byte);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // It has no session; what matters is that all of it was read.
  await slow.sees('HTTP/1.1 400');
  await stalled.closed;
  expect(stalled.received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*stopped arriving/);
});

test('an early answer that still runs is not taken for one to a request that stalls behind it', async () => {
  const { connect, startSession, nextCall } = await openTestDoor({ timeouts: { headersMs: 200 } });
  const session = await startSession();
  const { socket, closed, received } = await connect();
  const body = JSON.stringify(holdCall(1));
  socket.write(`${JSON_POST}Mcp-Session-Id: ${session}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await nextCall();
  socket.write('POST /mcp HTT');
  await closed;
  expect(received()).toBe('');
});

test('a connection that shows no token in time is closed, one that has shown one stays', async () => {
  const { connect } = await openTestDoor({ timeouts: { strangerMs: 500 } });
  const [silent, known] = [await connect(), await connect()];
  const ask = `GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
  known.socket.write(ask);
  await known.sees('"status":"ok"');
  await silent.closed;
  expect(silent.received()).toMatch(/^HTTP\/1\.1 408 /);
  known.socket.write(ask.replace('/status', '/nothing'));
  await known.sees('HTTP/1.1 404');
});

test('a token that arrived while the gateway had no time to read it has been shown in time', async () => {
  const { connect } = await openTestDoor({ timeouts: { strangerMs: 1000 } });
  const { socket, sees } = await connect();
  // The door must have accepted the connection and started its timer.
  await new Promise(setImmediate);
  socket.write(`GET /status HTTP/1.1\r\n${GOOD}\r\n`);
  const until = performance.now() + 1200;
  while (performance.now() < until);
  await sees('"status":"ok"');
});

test('headers are refused where there are too many, wherever the important ones are', async () => {
  const { connect } = await openTestDoor();
  const many = 'a:\r\n'.repeat(2500);
  const ask = `GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
  for (const headers of [`${many}Origin: http://evil.example\r\n`, many]) {
    const { socket, closed, received } = await connect();
    socket.write(`${ask}${headers}\r\n`);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 431 /);
  }
});

test('a client that disconnects in the middle of its body is forgotten', async () => {
  const { connect, request, clients } = await openTestDoor();
  const { socket, closed } = await connect();
  socket.write(`${JSON_POST}Content-Length: 100\r\n\r\n{"jsonrpc":`);
  socket.resetAndDestroy();
  await closed;
  expect((await request({ path: '/status' })).json).toMatchObject({ status: 'ok', sessions: 0 });
  expect(clients.opened).toBe(0);
});

test('anything that is not HTTP gets a 400', async () => {
  const { connect, request } = await openTestDoor();
  const { socket, closed, received } = await connect();
  socket.write('\x16\x03\x01 hello\r\n\r\n');
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 400 /);
  expect((await request({ path: '/status' })).status).toBe(200);
});

test('headers that are too large are answered 431', async () => {
  const { connect } = await openTestDoor();
  const { socket, closed, received } = await connect();
  socket.write(`GET /status HTTP/1.1\r\n${GOOD}X: ${'x'.repeat(20_000)}\r\n\r\n`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 431 /);
});

test('a body that says it is too large is refused before it comes', async () => {
  const { connect } = await openTestDoor({ limits: { bodyBytes: 1000 } });
  const { socket, sees, closed } = await connect();
  socket.write(`${JSON_POST}Content-Length: 1001\r\n\r\n`);
  await sees('HTTP/1.1 413');
  await closed;
});

test('one that does not say so, as soon as it is', async () => {
  const { connect } = await openTestDoor({ limits: { bodyBytes: 1000 } });
  const { socket, sees, closed } = await connect();
  socket.write(`${JSON_POST}Transfer-Encoding: chunked\r\n\r\n`);
  for (let n = 0; n < 3; n++) socket.write(`1f4\r\n${'x'.repeat(500)}\r\n`);
  await sees('HTTP/1.1 413');
  await closed;
});

test('a length that is too small ends the body there, and the rest is no request', async () => {
  const { connect, door } = await openTestDoor();
  const { socket, closed, received } = await connect();
  const body = JSON.stringify(initializeRequest());
  socket.write(`${JSON_POST}Content-Length: 10\r\n\r\n${body}`);
  await closed;
  expect(received()).not.toContain('200 OK');
  expect(door.sessions).toBe(0);
});

test.each([
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
  ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
  ['a length that is none', 'Content-Length: 5x\r\n'],
])('a request with %s is answered 400', async (_what, headers) => {
  const { connect } = await openTestDoor();
  const { socket, closed, received } = await connect();
  socket.write(`${JSON_POST}${headers}\r\nhello`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 400 /);
});

test('the body of a request that is refused is not waited for', async () => {
  const { connect } = await openTestDoor();
  const { socket, sees, closed } = await connect();
  socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{');
  await sees('HTTP/1.1 401');
  await closed;
});

test('Expect: 100-continue is answered only after the guard has admitted the request', async () => {
  const { connect } = await openTestDoor();
  const body = JSON.stringify(initializeRequest());
  const rest = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
  const stranger = await connect();
  stranger.socket.write(`POST /mcp HTTP/1.1\r\nHost: localhost\r\n${rest}`);
  await stranger.sees('HTTP/1.1 401');
  expect(stranger.received()).not.toContain('100 Continue');
  const friend = await connect();
  friend.socket.write(`POST /mcp HTTP/1.1\r\n${GOOD}${rest}`);
  await friend.sees('100 Continue');
  friend.socket.write(body);
  await friend.sees('HTTP/1.1 200');
});
