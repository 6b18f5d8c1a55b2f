import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { Flood } from '../../../../test/helpers/flood.ts';
import { until } from '../../../../test/helpers/until.ts';
import { freePort } from '../../../../test/helpers/yard-home.ts';
import { createForwarder, type Forwarder } from './forwarder.ts';
import type { Mapping } from './protocol.ts';

function open(): Forwarder {
  const forwarder = createForwarder(() => undefined);
  onTestFinished(() => forwarder.close());
  return forwarder;
}

async function backend(accept: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    accept(socket);
  });
  return (await listen(server, 0, host)).port;
}

async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  server.listen(port, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

function mapping(listen_port: number, target_port: number, branch = 'main'): Mapping {
  const owner = { project: 'shop', project_root: '/shop', branch, service: 'web' };
  return { listen_port, target_port, target_host: '127.0.0.1', ...owner };
}

/** Everything that the port sends to a client that sends these bytes and then ends. */
async function exchange(port: number, bytes: string, host = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host, allowHalfOpen: true });
  socket.end(bytes);
  return text(socket);
}

const says = (word: string) => (socket: Socket) => void socket.end(word);

test('ports cannot point to each other', async () => {
  const forwarder = open();
  const [one, other] = [await freePort(), await freePort()];
  await forwarder.handle({ op: 'map', mapping: mapping(one, other) });
  expect(await forwarder.handle({ op: 'map', mapping: mapping(other, one) })).toMatchObject({
    ok: false,
    code: 'BAD_REQUEST',
  });
  expect(forwarder.size).toBe(1);
});

test('a mapped port reaches its target on both loopback addresses', async () => {
  const forwarder = open();
  const port = await freePort();
  const target = await backend(says('hello'));
  expect(await forwarder.handle({ op: 'map', mapping: mapping(port, target) })).toEqual({
    ok: true,
    kind: 'mapped',
    ended: 0,
    finishing: 0,
  });
  expect(await exchange(port, '', '127.0.0.1')).toBe('hello');
  expect(await exchange(port, '', '::1')).toBe('hello');
  expect(await forwarder.handle({ op: 'list' })).toMatchObject({
    mappings: [{ ...mapping(port, target), addresses: ['127.0.0.1', '::1'] }],
  });
});

test('a target that listens only on the other address is found', async () => {
  const forwarder = open();
  const port = await freePort();
  await forwarder.handle({ op: 'map', mapping: mapping(port, await backend(says('six'), '::1')) });
  expect(await exchange(port, '')).toBe('six');
});

test('a direction that has ended leaves the other one open, as database clients need', async () => {
  const forwarder = open();
  const port = await freePort();
  // Responds with the length of what it received, but only after the client has ended its side.
  const target = await backend((socket) => {
    let length = 0;
    socket.on('data', (bytes: Buffer) => (length += bytes.length));
    socket.on('end', () => {
      const answer = Buffer.alloc(5);
      answer.write('R');
      answer.writeUInt32BE(length, 1);
      socket.end(answer);
    });
  });
  await forwarder.handle({ op: 'map', mapping: mapping(port, target) });
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const startup = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
  client.end(Buffer.concat([startup, Buffer.alloc(300_000, 0xff)]));
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect([...answer]).toEqual([0x52, ...[...Buffer.from([0, 4, 0x93, 0xe8])]]);
  // The other way round: the service ends first, and the client keeps sending.
  let heard = '';
  const quiet = await backend((socket) => {
    socket.end('only this');
    socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
  });
  await forwarder.handle({ op: 'map', mapping: mapping(port, quiet) });
  const speaker = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let said = '';
  speaker.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await once(speaker, 'end');
  expect(said).toBe('only this');
  speaker.end('still here');
  await until(() => heard === 'still here');
});

test('HTTP passes unchanged: the Host stays, a WebSocket opens, events arrive one by one', async () => {
  const forwarder = open();
  const port = await freePort();
  let push: (event: string) => void = () => undefined;
  const http = createHttpServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-host': request.headers.host });
    response.flushHeaders();
    push = (event) => void response.write(`data: ${event}\n\n`);
  });
  http.on('upgrade', (request, socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade ?? ''}\r\n\r\n`);
    socket.pipe(socket);
  });
  onTestFinished(() => http.closeAllConnections());
  const { port: target } = await listen(http, 0, '127.0.0.1');
  await forwarder.handle({ op: 'map', mapping: mapping(port, target) });

  const client = (head: string) => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const seen = { text: '', socket };
    socket.on('data', (bytes: Buffer) => (seen.text += bytes.toString()));
    socket.write(`GET / HTTP/1.1\r\nHost: localhost:3000\r\n${head}\r\n`);
    return seen;
  };
  const events = client('');
  await until(() => events.text.includes('\r\n\r\n'));
  expect(events.text).toContain('x-host: localhost:3000');
  for (const event of ['one', 'two']) {
    expect(events.text).not.toContain(`data: ${event}`);
    push(event);
    await until(() => events.text.includes(`data: ${event}\n\n`));
  }
  const tunnel = client('Connection: Upgrade\r\nUpgrade: websocket\r\n');
  await until(() => tunnel.text.includes('Upgrade: websocket'));
  const bytes = Buffer.from([0x81, 0x85, 1, 2, 3, 4, 0x69, 0x67, 0x6f, 0x68, 0x6e]);
  tunnel.socket.write(bytes);
  await until(() => tunnel.text.endsWith(bytes.toString()));
});

test('a broken connection does not look like a clean end', async () => {
  const forwarder = open();
  const port = await freePort();
  const target = await backend((socket) => socket.write('part', () => socket.resetAndDestroy()));
  await forwarder.handle({ op: 'map', mapping: mapping(port, target) });
  await expect(exchange(port, 'x')).rejects.toThrow('ECONNRESET');
});

test('a side that does not read slows down the other one', async () => {
  const forwarder = open();
  const port = await freePort();
  const flood = new Flood();
  const target = await backend((socket) => flood.into(socket));
  await forwarder.handle({ op: 'map', mapping: mapping(port, target) });
  const client = connect({ port, host: '127.0.0.1' });
  onTestFinished(() => void client.destroy());
  client.pause();
  expect(await flood.stopped()).toBeLessThan(50e6);
});

test('a switch sends new connections elsewhere and refuses none', async () => {
  const forwarder = open();
  const port = await freePort();
  const targets = [await backend(says('A')), await backend(says('B'))];
  await forwarder.handle({ op: 'map', mapping: mapping(port, targets[1]!, 'old') });
  const answer = await forwarder.handle({ op: 'map', mapping: mapping(port, targets[0]!) });
  expect(answer).toMatchObject({ kind: 'switched', was: { branch: 'old' } });

  let stop = false;
  const seen = new Set<string>();
  let connections = 0;
  const clients = Array.from({ length: 8 }, async () => {
    while (!stop) {
      seen.add(await exchange(port, ''));
      connections++;
    }
  });
  for (let round = 0; round < 200; round++) {
    await forwarder.handle({ op: 'map', mapping: mapping(port, targets[round % 2]!) });
    const target = connections;
    await until(() => connections > target, { every: 1 });
  }
  stop = true;
  await Promise.all(clients);
  expect([...seen].sort()).toEqual(['A', 'B']);
});

test('a port that another process holds on either address is taken on neither', async () => {
  const forwarder = open();
  const target = await backend(says('x'));
  for (const held of ['127.0.0.1', '::1', '0.0.0.0', '::']) {
    const stranger = createServer(says('stranger'));
    const port = await freePort();
    await listen(stranger, port, held);
    const answer = await forwarder.handle({ op: 'map', mapping: mapping(port, target) });
    expect(answer).toMatchObject({ ok: false, code: 'EADDRINUSE' });
    const other = held === '::1' ? '127.0.0.1' : '::1';
    if (held.length > 2 && held !== '0.0.0.0')
      await expect(exchange(port, '', other)).rejects.toThrow('ECONNREFUSED');
  }
  expect(forwarder.size).toBe(0);
});

test('unmapping frees the port and closes its connections', async () => {
  const forwarder = open();
  const port = await freePort();
  await forwarder.handle({
    op: 'map',
    mapping: mapping(port, await backend((socket) => socket.write('hi'))),
  });
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  await once(client, 'data');
  const closed = once(client, 'close');
  expect(await forwarder.handle({ op: 'unmap', port })).toEqual({ ok: true, kind: 'unmapped', cut: 1 });
  await closed;
  await expect(exchange(port, '')).rejects.toThrow('ECONNREFUSED');
  await expect(exchange(port, '', '::1')).rejects.toThrow('ECONNREFUSED');
  expect(await forwarder.handle({ op: 'unmap', port })).toMatchObject({ kind: 'unknown' });
});

test('an HTTP client gets a 502 if the service is gone, other clients are disconnected', async () => {
  const forwarder = open();
  const port = await freePort();
  await forwarder.handle({ op: 'map', mapping: mapping(port, await freePort(), 'feature/x') });
  const answer = await exchange(port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n/);
  expect(answer).toContain('web of feature/x does not respond');
  await expect(exchange(port, '\0\0\0\x08')).rejects.toThrow('ECONNRESET');
});

test('a mapping to another machine, or of a port to itself, is rejected', async () => {
  const forwarder = open();
  const port = await freePort();
  const away = { ...mapping(port, 80), target_host: '192.0.2.1' };
  expect(await forwarder.handle({ op: 'map', mapping: away })).toMatchObject({
    ok: false,
    code: 'NOT_LOOPBACK',
  });
  expect(await forwarder.handle({ op: 'map', mapping: mapping(port, port) })).toMatchObject({ ok: false });
});
