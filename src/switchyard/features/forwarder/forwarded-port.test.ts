/** What happens to open connections when their port gets another target. */
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { freePort } from '../../../../test/helpers/yard-home.ts';
import { openForwardedPort, type ForwardedPort } from './forwarded-port.ts';
import type { Mapping } from './protocol.ts';
import { RESPONSE_TIMEOUT_MS } from './forwarded-connection.ts';

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Keeps its connections for as long as the client wants. */
function http(answer: RequestListener): Promise<number> {
  const server = createHttpServer(answer);
  server.keepAliveTimeout = 600_000;
  server.on('upgrade', (request, socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.pipe(socket);
  });
  onTestFinished(() => server.closeAllConnections());
  return listen(server);
}

function tcp(accept: (socket: Socket) => void): Promise<number> {
  return listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      onTestFinished(() => void socket.destroy());
      accept(socket.on('error', () => undefined));
    }),
  );
}

interface Opened extends ForwardedPort {
  readonly port: number;
  /** Switches to a service that responds with its name. */
  switchTo(name: string): Promise<{ readonly ended: number; readonly finishing: number }>;
}

async function open(target: number): Promise<Opened> {
  const port = await freePort();
  const to = (target_port: number, branch: string): Mapping => ({
    listen_port: port,
    target_port,
    target_host: '127.0.0.1',
    project: 'shop',
    project_root: '/shop',
    branch,
    service: 'web',
  });
  const forwardedPort = await openForwardedPort(to(target, 'old'), () => undefined);
  onTestFinished(() => forwardedPort.close());
  return Object.assign(forwardedPort, {
    port,
    async switchTo(name: string) {
      return forwardedPort.retarget(to(await http((_, response) => response.end(name)), name));
    },
  });
}

interface Client {
  readonly socket: Socket;
  /** Everything that was received. */
  text: string;
  /** `end`: as expected; otherwise what went wrong. */
  readonly over: Promise<string>;
}

function connectTo(port: number, request = ''): Client {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const over = new Promise<string>((resolve) => {
    socket.on('error', ({ message }) => resolve(message));
    socket.on('end', () => resolve('end'));
  });
  const client = { socket, text: '', over };
  socket.on('data', (bytes: Buffer) => (client.text += bytes.toString('latin1')));
  socket.write(request);
  return client;
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

test('idle connections end immediately, and new ones reach the new service', async () => {
  const forwardedPort = await open(await http((_, response) => response.end('old')));
  const clients = [
    connectTo(forwardedPort.port, GET),
    connectTo(forwardedPort.port, GET),
    connectTo(forwardedPort.port, GET),
  ];
  await until(() => clients.every(({ text }) => text.endsWith('old')));
  const began = performance.now();
  expect(await forwardedPort.switchTo('new')).toEqual({ ended: 3, finishing: 0 });
  expect(forwardedPort).toMatchObject({ connections: 0, elsewhere: 0 });
  expect(await Promise.all(clients.map(({ over }) => over))).toEqual(['end', 'end', 'end']);
  expect(performance.now() - began).toBeLessThan(RESPONSE_TIMEOUT_MS / 2);
  const next = connectTo(forwardedPort.port, GET);
  await until(() => next.text.endsWith('new'));
});

test('an unused connection is not ended: it reaches the new service', async () => {
  let accepted = 0;
  const forwardedPort = await open(await tcp(() => accepted++));
  const client = connectTo(forwardedPort.port);
  await until(() => accepted === 1);
  expect(await forwardedPort.switchTo('new')).toEqual({ ended: 1, finishing: 0 });
  client.socket.write(GET);
  await until(() => client.text.endsWith('new'));
  expect(forwardedPort).toMatchObject({ connections: 1, elsewhere: 0 });
});

test('a pending or partial response arrives completely, then the connection ends', async () => {
  const pending: (() => void)[] = [];
  const body = 'x'.repeat(300_000);
  const forwardedPort = await open(
    await http((request, response) => {
      if (request.url === '/begun') response.write(body);
      pending.push(() => response.end(`${body}!`));
    }),
  );
  const outstanding = connectTo(forwardedPort.port, GET);
  const begun = connectTo(forwardedPort.port, GET.replace('/', '/begun'));
  await until(() => pending.length === 2 && begun.text.length > body.length);
  expect(await forwardedPort.switchTo('new')).toEqual({ ended: 0, finishing: 2 });
  expect(forwardedPort.elsewhere).toBe(2);
  // No connection ends before its response is complete.
  const next = connectTo(forwardedPort.port, GET);
  await until(() => next.text.endsWith('new'));
  expect(forwardedPort.elsewhere).toBe(2);
  for (const finish of pending) finish();
  expect(await Promise.all([outstanding.over, begun.over])).toEqual(['end', 'end']);
  expect(outstanding.text.endsWith(`\r\n\r\n${body}!`)).toBe(true);
  expect(begun.text.endsWith('!\r\n0\r\n\r\n')).toBe(true);
  await until(() => forwardedPort.elsewhere === 0);
});

test('a client that reads slowly gets all of a complete response', async () => {
  const body = 'x'.repeat(20e6);
  const forwardedPort = await open(await http((_, response) => response.end(body)));
  const client = connectTo(forwardedPort.port, GET);
  await until(() => client.text.length > 0);
  client.socket.pause();
  expect(await forwardedPort.switchTo('new')).toMatchObject({ finishing: 1 });
  client.socket.resume();
  expect(await client.over).toBe('end');
  expect(client.text.length).toBeGreaterThan(body.length);
});

test('a response that takes too long is cut off, and does not look complete', async () => {
  // Without a length, the response ends with the connection.
  const forwardedPort = await open(
    await tcp((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\npart'))),
  );
  const client = connectTo(forwardedPort.port, GET);
  await until(() => client.text.endsWith('part'));
  const began = performance.now();
  expect(await forwardedPort.switchTo('new')).toEqual({ ended: 0, finishing: 1 });
  expect(await client.over).toBe('read ECONNRESET');
  expect(performance.now() - began).toBeGreaterThan(RESPONSE_TIMEOUT_MS - 100);
  expect(forwardedPort).toMatchObject({ connections: 0, elsewhere: 0 });
});

test('WebSockets and event streams end immediately', async () => {
  const forwardedPort = await open(
    await http((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
    }),
  );
  const events = connectTo(forwardedPort.port, GET);
  const socket = connectTo(
    forwardedPort.port,
    GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  );
  await until(() => events.text.includes('data: one') && socket.text.includes('101 Yes'));
  expect(await forwardedPort.switchTo('new')).toEqual({ ended: 2, finishing: 0 });
  expect(await Promise.all([events.over, socket.over])).toEqual(['end', 'end']);
});

test('other protocols: idle when the service sent last, and a response in several parts arrives completely', async () => {
  const answers: (() => void)[] = [];
  const forwardedPort = await open(
    await tcp((socket) => {
      socket.write('hello\n');
      socket.on('data', () => answers.push(() => socket.write('part ')));
    }),
  );
  const [idle, asking] = [connectTo(forwardedPort.port), connectTo(forwardedPort.port)];
  await until(() => idle.text !== '' && asking.text !== '');
  asking.socket.write('SELECT 1\n');
  await until(() => answers.length === 1);
  const { ended, finishing } = await forwardedPort.switchTo('new');
  expect(ended + finishing).toBe(2);
  expect(finishing).toBeGreaterThan(0);
  expect(await idle.over).toBe('end');
  answers[0]!();
  await until(() => asking.text.endsWith('part '));
  answers[0]!();
  expect(await asking.over).toBe('end');
  expect(asking.text).toBe('hello\npart part ');
});

test('a request that has arrived when the port is switched gets its response', async () => {
  const forwardedPort = await open(await http((_, response) => response.end('first')));
  const client = connectTo(forwardedPort.port, GET);
  await until(() => client.text.endsWith('first'));
  client.text = '';
  const target = await http((_, response) => response.end('second'));
  // The bytes are in the buffers of the kernel and have not been read yet.
  client.socket.write(GET);
  const { ended, finishing } = await forwardedPort.retarget({
    ...forwardedPort.mapping,
    target_port: target,
    branch: 'new',
  });
  expect(ended + finishing).toBe(1);
  expect(await client.over).toBe('end');
  expect(client.text).toMatch(/first$/);
});
