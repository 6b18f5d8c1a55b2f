/** Connections that send too little, too much or nothing, to the built program: whoever has a token gets in all the same. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway, TOKEN } from '../helpers/http-gateway.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const RIGHT = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
const HEALTH = `GET /status HTTP/1.1\r\n${RIGHT}\r\n`;

/** A connection, and what has arrived on it. */
async function connectTo(port: number) {
  const socket = connect(port, '127.0.0.1');
  atTestEnd(() => {
    socket.destroy();
    return Promise.resolve();
  });
  let received = '';
  let closed = false;
  socket.on('data', (data) => (received += String(data)));
  socket.on('error', () => undefined);
  socket.on('close', () => (closed = true));
  await once(socket, 'connect');
  return { socket, received: () => received, closed: () => closed };
}

describe('connections that show no token', () => {
  test('keep nobody out who has one, however many they are, and none that is in use', async () => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') });
    const session = await HttpSession.open(gateway);
    const known = await connectTo(gateway.port);
    known.socket.write(HEALTH);
    await until(() => known.received().includes('"status":"ok"'), { what: 'the first answer' });
    const silent: { socket: Socket; closed: () => boolean }[] = [];
    for (let round = 0; round < 9; round++)
      silent.push(...(await Promise.all(Array.from({ length: 250 }, () => connectTo(gateway.port)))));
    // New ones are let in, again and again, and those from before go on.
    for (let n = 0; n < 5; n++) expect((await gateway.health()).status).toBe('ok');
    expect((await session.request('ping')).result).toEqual({});
    known.socket.write(HEALTH);
    await until(() => known.received().match(/"status":"ok"/g)?.length === 2, { what: 'the second answer' });
    // The oldest have gone to make room, the others follow soon.
    expect(silent[0]!.closed()).toBe(true);
    await until(() => silent.every(({ closed }) => closed()), {
      what: 'all silent connections to be closed',
      deadline: 40_000,
    });
    expect(known.closed()).toBe(false);
    expect(gateway.stderr).toContain('too many connections without a token');
    await gateway.stop();
  });
});

test('an Origin behind thousands of headers is not overlooked', async () => {
  const gateway = await startHttpGateway({});
  const many = 'a:\r\n'.repeat(2500);
  const { socket, received, closed } = await connectTo(gateway.port);
  socket.write(`GET /status HTTP/1.1\r\n${RIGHT}${many}Origin: http://evil.example\r\n\r\n`);
  await until(closed, { what: 'the connection to be closed' });
  expect(received()).toMatch(/^HTTP\/1\.1 431 /);
  expect(received()).not.toContain('"status":"ok"');
  await gateway.stop();
});

test('a body that stops arriving is answered 408 after half a minute', { timeout: 180_000 }, async () => {
  const gateway = await startHttpGateway({});
  const { socket, received, closed } = await connectTo(gateway.port);
  socket.write(
    `POST /mcp HTTP/1.1\r\n${RIGHT}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jsonrpc":`,
  );
  await until(closed, { what: 'the connection to be closed', deadline: 120_000 });
  expect(received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*the body of the request stopped arriving/);
  await gateway.stop();
});
