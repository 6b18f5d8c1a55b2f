import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as ask, type IncomingMessage, type RequestListener } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { Flood } from '../../../../test/helpers/flood.ts';
import { until } from '../../../../test/helpers/until.ts';
import { freePort } from '../../../../test/helpers/yard-home.ts';
import { listening, openProxy } from '../../../../test/helpers/yard-proxy.ts';

/** Starts a backend and returns its port. */
async function backend(listener: RequestListener, host = '127.0.0.1'): Promise<number> {
  const server = createServer({ requestTimeout: 0 }, listener);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return listening(server, host);
}

interface Asked {
  readonly host?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

/** The response, whose body has not been read. */
function send(
  port: number,
  { host = 'web.main.shop.localhost', path = '/', method, headers, body }: Asked = {},
) {
  const request = ask({
    port,
    host: '127.0.0.1',
    path,
    method: method ?? 'GET',
    agent: false,
    headers: { host, ...headers },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  return { request: request.end(body), answer };
}

async function get(port: number, asked: Asked = {}) {
  const answer = await send(port, asked).answer;
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Sends bytes and returns the received ones, until the other side closes. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

test('a request reaches the service in its Host, with headers about its origin', async () => {
  const { yard, port } = await openProxy();
  const seen: Record<string, unknown>[] = [];
  const one = await backend((request, response) => {
    seen.push({ url: request.url, ...request.headers });
    response.setHeader('set-cookie', ['a=1', 'b=2']).end('one');
  });
  const two = await backend((_, response) => response.end('two'));
  await yard.record({ port: one, branch: 'feature/x' });
  await yard.record({ port: two, branch: 'main' });
  const answer = await get(port, {
    host: `WEB.feature-X.shop.localhost.:${port}`,
    path: '/a?b=c',
    headers: {
      'x-forwarded-host': 'evil',
      origin: 'http://elsewhere.example',
      cookie: ['c=1', 'd=2'],
      connection: 'x-secret',
      'x-secret': '1',
    },
  });
  expect(answer).toMatchObject({ status: 200, body: 'one', headers: { 'set-cookie': ['a=1', 'b=2'] } });
  expect(seen).toEqual([
    {
      url: '/a?b=c',
      host: `WEB.feature-X.shop.localhost.:${port}`,
      origin: 'http://elsewhere.example',
      cookie: 'c=1; d=2',
      connection: 'keep-alive',
      'x-forwarded-host': `WEB.feature-X.shop.localhost.:${port}`,
      'x-forwarded-proto': 'http',
      'x-switchyard-service': 'web',
      'x-switchyard-branch': 'feature/x',
    },
  ]);
  expect(await get(port)).toMatchObject({ status: 200, body: 'two' });
});

test('with rewrite, a service gets its own address as Host, and as Origin of its own pages', async () => {
  const { yard, port } = await openProxy();
  const seen: string[] = [];
  const at = await backend(({ headers }, response) => {
    seen.push(`${headers.host ?? ''} from ${headers.origin ?? ''}`);
    response.end(headers['x-forwarded-host']);
  });
  await yard.record({ port: at, host_header: 'rewrite' });
  const host = `web.main.shop.localhost:${port}`;
  for (const origin of [`http://${host}`, 'http://api.main.shop.localhost', 'null']) {
    expect((await get(port, { host, headers: { origin } })).body).toBe(host);
  }
  await raw(
    port,
    `GET / HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://${host}\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`,
  );
  expect(seen).toEqual([
    `127.0.0.1:${at} from http://127.0.0.1:${at}`,
    `127.0.0.1:${at} from http://api.main.shop.localhost`,
    `127.0.0.1:${at} from null`,
    `127.0.0.1:${at} from http://127.0.0.1:${at}`,
  ]);
});

test('records that appear, move or disappear take effect with the next request', async () => {
  const { yard, port } = await openProxy();
  expect((await get(port)).status).toBe(502);
  await yard.record({ port: await backend((_, response) => response.end('first')) });
  expect((await get(port)).body).toBe('first');
  await yard.record({ port: await backend((_, response) => response.end('second')) });
  expect((await get(port)).body).toBe('second');
  await yard.context.registry.change((state) => {
    state.projects = {};
  });
  expect((await get(port)).status).toBe(502);
});

test('the health check names the home, but not for a foreign name that points to this machine', async () => {
  const { yard, port } = await openProxy();
  const health = async (host: string) =>
    JSON.parse((await get(port, { host, path: '/__switchyard/health' })).body);
  const { root } = yard.context.home;
  expect(await health(`127.0.0.1:${port}`)).toEqual({
    ok: true,
    name: 'switchyard-proxy',
    registry_home: root,
    pid: process.pid,
  });
  expect(await health('evil.example')).toEqual({ ok: true, name: 'switchyard-proxy' });
});

test('an unknown service is distinguished from one that does not run', async () => {
  const { yard, port } = await openProxy();
  await yard.record({ port: 9, branch: 'main' });
  const { body, status } = await get(port, { host: 'wbe.main.shop.localhost' });
  expect(status).toBe(502);
  expect(body).toContain(`${yard.context.config.root} has no service wbe`);
  expect(body).toContain('It has: web.');
  expect(body).not.toContain('sy up');
  // If the file cannot be read, any name may be one of its services.
  writeFileSync(yard.context.config.file, 'broken = ');
  expect((await get(port, { host: 'wbe.main.shop.localhost' })).body).toContain('sy up main wbe');
});

test('an unknown name is rejected with the known ones, as text or HTML', async () => {
  const { yard, port } = await openProxy();
  const record = await yard.record({ port: 9, branch: 'main' });
  const plain = await get(port, { host: 'web.other.shop.localhost' });
  expect(plain.status).toBe(502);
  expect(plain.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(plain.body).toContain('no route for Host: web.other.shop.localhost');
  expect(plain.body).toContain('sy up other web');
  expect(plain.body).toContain(record.url);
  const page = await get(port, { host: 'localhost', headers: { accept: 'text/html,*/*' } });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain(`<a href="${record.url}">`);
});

test('a foreign name gets no information', async () => {
  const { yard, port } = await openProxy();
  await yard.record({ port: await backend((_, response) => response.end('secret')) });
  for (const host of [
    'evil.example',
    'web.main.shop.localhost.evil.example',
    'web.main.shop.localhost@evil',
    '',
  ]) {
    const answer = await raw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 (400|502) /);
    expect(answer).not.toContain('secret');
    expect(answer).not.toContain('http://web.main');
  }
});

test('an absolute target is served only if its host is that of the Host header', async () => {
  const { yard, port } = await openProxy();
  await yard.record({
    port: await backend((request, response) => response.end(`path ${request.url ?? ''}`)),
  });
  const asked = (target: string, host = 'web.main.shop.localhost') =>
    raw(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await asked('http://web.main.shop.localhost:7331/a?b')).toContain('path /a?b');
  expect(await asked('http://WEB.main.shop.localhost?b')).toContain('path /?b');
  expect(await asked('//evil/a')).toContain('path //evil/a');
  for (const target of [
    'http://evil/a',
    'https://web.main.shop.localhost/',
    'evil:80',
    'ftp://x/',
    'http://',
  ]) {
    expect(await asked(target)).toMatch(/^HTTP\/1.1 400 /);
  }
  expect(await asked('/', 'a\r\nHost: web.main.shop.localhost')).toMatch(/^HTTP\/1.1 400 /);
  expect(await raw(port, 'CONNECT evil:443 HTTP/1.1\r\nHost: web.main.shop.localhost\r\n\r\n')).toBe('');
  expect(await raw(port, 'GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  expect((await get(port)).body).toBe('path /');
});

test('a record that points to another machine is rejected', async () => {
  const { yard, port } = await openProxy();
  await yard.record({ port: 80, backend_host: '192.0.2.1' });
  const answer = await get(port);
  expect(answer).toMatchObject({ status: 502 });
  expect(answer.body).toContain('refused non-loopback backend route');
});

test('unreadable or invalid records fail one request, not the proxy', async () => {
  const { yard, port } = await openProxy();
  const at = await backend((_, response) => response.end('fine'));
  await yard.record({ port: at, branch: '\ud800' });
  expect(await get(port, { host: 'web.default.shop.localhost' })).toMatchObject({ status: 502 });
  const { stateFile } = yard.context.home;
  rmSync(stateFile);
  mkdirSync(stateFile);
  expect((await get(port)).body).toContain('could not handle this request');
  const upgrade =
    'GET / HTTP/1.1\r\nHost: web.main.shop.localhost\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n';
  expect(await raw(port, upgrade)).toMatch(/^HTTP\/1.1 502 /);
  rmSync(stateFile, { recursive: true });
  await yard.record({ port: at });
  expect((await get(port)).body).toBe('fine');
});

test('a service that does not respond is named, with the next step', async () => {
  const { yard, port } = await openProxy();
  const closed = createServer();
  const gone = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  await yard.record({ port: gone, branch: 'feature/<x>' });
  const asked = { host: 'web.feature-x.shop.localhost' };
  const plain = await get(port, asked);
  expect(plain.status).toBe(502);
  expect(plain.body).toContain(`web of feature/<x> does not respond on 127.0.0.1:${gone} (ECONNREFUSED)`);
  expect(plain.body).toContain(`sy up 'feature/<x>' web`);
  const page = await get(port, { ...asked, headers: { accept: 'text/html' } });
  expect(page.body).not.toContain('<x>');
});

test('a service that listens on the other loopback address is found', async () => {
  const { yard, port } = await openProxy();
  await yard.record({ port: await backend((_, response) => response.end('six'), '::1') });
  expect((await get(port)).body).toBe('six');
});

test('bodies flow both ways before either is complete', async () => {
  const { yard, port } = await openProxy();
  const at = await backend((request, response) => {
    response.flushHeaders();
    request.pipe(response);
  });
  await yard.record({ port: at });
  const request = ask({
    port,
    host: '127.0.0.1',
    method: 'POST',
    agent: false,
    headers: { host: 'web.main.shop.localhost' },
  });
  request.flushHeaders();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  for (const word of ['one', 'two', 'three']) {
    request.write(word);
    const [chunk] = (await once(answer, 'data')) as [Buffer];
    expect(chunk.toString()).toBe(word);
  }
  request.end();
  await once(answer, 'end');
});

test('an event stream arrives event by event, with its headers first', async () => {
  const { yard, port } = await openProxy();
  let push: (text: string) => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    void backend((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      push = (event) => void response.write(`data: ${event}\n\n`);
      request.on('close', resolve);
    }).then((at) => yard.record({ port: at }));
  });
  await until(() => yard.context.registry.read().projects[yard.context.config.root]);
  const { answer, request } = send(port);
  const stream = await answer;
  expect(stream.headers['content-type']).toBe('text/event-stream');
  for (const event of ['1', '2', '3']) {
    push(event);
    const [chunk] = (await once(stream, 'data')) as [Buffer];
    expect(chunk.toString()).toBe(`data: ${event}\n\n`);
  }
  // When the client disconnects, the service notices that, too.
  request.destroy();
  await closed;
});

test('a HEAD response keeps its length and has no body; other lengths, codes and trailers are unchanged', async () => {
  const { yard, port } = await openProxy();
  const at = await backend((request, response) => {
    if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '1234' }).end();
    else if (request.url === '/304') response.writeHead(304, { etag: '"x"' }).end();
    else if (request.url === '/204') response.writeHead(204).end();
    else {
      response.writeHead(203, 'Fine by me', { trailer: 'X-Sum' });
      response.write('body');
      response.addTrailers({ 'X-Sum': '4' });
      response.end();
    }
  });
  await yard.record({ port: at });
  const head = await get(port, { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '1234' } });
  expect(await get(port, { path: '/304' })).toMatchObject({
    status: 304,
    body: '',
    headers: { etag: '"x"' },
  });
  expect(await get(port, { path: '/204' })).toMatchObject({ status: 204, body: '' });
  const answer = await send(port, { headers: { te: 'trailers' } }).answer;
  expect(answer.statusMessage).toBe('Fine by me');
  expect(await text(answer)).toBe('body');
  expect(answer.trailers).toEqual({ 'x-sum': '4' });
});

test('a client that waits for "100 Continue" gets it from the service, or its rejection', async () => {
  const { yard, port } = await openProxy();
  const server = createServer();
  server.on('checkContinue', (request: IncomingMessage, response) => {
    if (request.url === '/no') response.writeHead(417).end('too much');
    else {
      response.writeContinue();
      void text(request).then((body) => response.end(`got ${body}`));
    }
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await yard.record({ port: await listening(server) });
  const begin = (path: string) => {
    const headers = { host: 'web.main.shop.localhost', expect: '100-continue', 'content-length': '5' };
    const request = ask({ port, host: '127.0.0.1', method: 'POST', path, agent: false, headers });
    request.flushHeaders();
    return request;
  };
  const agreed = begin('/yes');
  await once(agreed, 'continue');
  agreed.end('hello');
  const [answer] = (await once(agreed, 'response')) as [IncomingMessage];
  expect(await text(answer)).toBe('got hello');
  const refused = begin('/no');
  const [refusal] = (await once(refused, 'response')) as [IncomingMessage];
  expect(refusal.statusCode).toBe(417);
  refused.on('error', () => undefined);
  refused.destroy();
});

test('a client that is still sending a large body gets an early response and can reuse the connection', async () => {
  const { yard, port } = await openProxy();
  const size = 20e6;
  // Written by hand, because Node's own client stops sending when it gets a response.
  const upload = async (path: string) => {
    const socket = connect(port, '127.0.0.1');
    const head = `HTTP/1.1\r\nHost: web.main.shop.localhost\r\n`;
    let seen = '';
    socket.on('data', (bytes: Buffer) => (seen += bytes.toString('latin1')));
    socket.write(`POST ${path} ${head}Content-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size));
    await until(() => seen.includes('HTTP/1.1'));
    socket.write(`GET /__switchyard/health ${head}Connection: close\r\n\r\n`);
    await once(socket, 'close');
    return seen.match(/HTTP\/1.1 \d+|too much|switchyard-proxy/g);
  };
  // First a port without a listener, then a service that does not read.
  await yard.record({ port: await freePort() });
  expect(await upload('/')).toEqual(['HTTP/1.1 502', 'HTTP/1.1 200', 'switchyard-proxy']);
  await yard.record({ port: await backend((_, response) => response.writeHead(413).end('too much')) });
  expect(await upload('/')).toEqual(['HTTP/1.1 413', 'too much', 'HTTP/1.1 200', 'switchyard-proxy']);
});

test('a response that breaks off does not look complete', async () => {
  const { yard, port } = await openProxy();
  const at = await backend((request, response) => {
    response.writeHead(200, request.url === '/sized' ? { 'content-length': '1000' } : {});
    response.write('part', () => setImmediate(() => response.destroy()));
  });
  await yard.record({ port: at });
  for (const path of ['/sized', '/chunked']) {
    const answer = await send(port, { path }).answer;
    await expect(text(answer)).rejects.toThrow('aborted');
  }
});

const BAD_ANSWERS: Record<string, string> = {
  nothing: '',
  garbage: 'what?\r\n\r\n',
  odd: 'HTTP/1.1 099 Odd\r\n\r\n',
  reason: 'HTTP/1.1 200 a\x07b\r\n\r\n',
  upgrade: 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nhello',
  header: `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
};

test('a response that must not be forwarded is a 502, and the proxy survives', async () => {
  const { yard, port } = await openProxy();
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes: Buffer) => {
      const path = /^GET \/(\w+)/.exec(bytes.toString())?.[1] ?? '';
      socket.end(BAD_ANSWERS[path] ?? '');
    });
  });
  onTestFinished(() => void server.close());
  await yard.record({ port: await listening(server) });
  for (const name of Object.keys(BAD_ANSWERS))
    expect((await get(port, { path: `/${name}` })).status).toBe(502);
});

test('connections to a service are reused, and one closed at that moment fails no request', async () => {
  const { yard, port } = await openProxy();
  const requests = new Map<Socket, number>();
  let cut = false;
  const at = await backend((request, response) => {
    const before = requests.get(request.socket) ?? 0;
    requests.set(request.socket, before + 1);
    if (cut && before > 0) request.socket.resetAndDestroy();
    else response.end(request.method);
  });
  await yard.record({ port: at });
  for (let n = 0; n < 5; n++) expect((await get(port)).status).toBe(200);
  expect(requests.size).toBe(1);
  cut = true;
  for (let n = 0; n < 5; n++) expect((await get(port)).status).toBe(200);
  // A request that cannot be repeated never uses a connection that may be gone.
  for (let n = 0; n < 5; n++) expect((await get(port, { method: 'POST', body: 'x' })).body).toBe('POST');
});

test('an idle connection that the service ended is not reused', async () => {
  const { yard, port } = await openProxy();
  let socket: Socket | undefined;
  await yard.record({
    port: await backend((request, response) => {
      socket = request.socket;
      response.end('here');
    }),
  });
  for (let n = 0; n < 3; n++) {
    expect((await get(port)).body).toBe('here');
    const used = socket!;
    // Only its half of the connection: nobody would respond to what we could still send.
    used.end();
    await until(() => used.closed, { what: 'our half to be closed too' });
  }
});

test('a client that does not read slows down its service', async () => {
  const { yard, port } = await openProxy();
  const flood = new Flood();
  const at = await backend((_, response) => flood.into(response));
  await yard.record({ port: at });
  const { answer, request } = send(port);
  (await answer).pause();
  expect(await flood.stopped()).toBeLessThan(50e6);
  request.destroy();
});

test('three hundred concurrent requests all get their own response', async () => {
  const { yard, port } = await openProxy();
  await yard.record({
    port: await backend((request, response) => {
      void text(request).then((body) => setImmediate(() => response.end(`${request.url ?? ''} ${body}`)));
    }),
  });
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, n) =>
      get(port, {
        path: `/${n}`,
        method: n % 2 === 0 ? 'GET' : 'POST',
        body: n % 2 === 0 ? '' : `body ${n}`,
      }),
    ),
  );
  answers.forEach(({ body }, n) => expect(body).toBe(`/${n} ${n % 2 === 0 ? '' : `body ${n}`}`));
});

/** Writes WebSocket frames shorter than 126 bytes by hand. */
function frame(payload: string, masked: boolean): Buffer {
  const data = Buffer.from(payload);
  const mask = Buffer.from([1, 2, 3, 4]);
  const body = masked ? data.map((byte, at) => byte ^ mask[at % 4]!) : data;
  return Buffer.concat([
    Buffer.from([0x81, (masked ? 0x80 : 0) | data.length]),
    masked ? mask : Buffer.alloc(0),
    body,
  ]);
}

function webSocketBackend(): Promise<number> {
  const server = createServer();
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key'] ?? ''}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.write(frame(`hello ${String(request.headers['x-forwarded-host'])} ${request.url ?? ''}`, false));
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      const data = bytes.subarray(6).map((byte, at) => byte ^ bytes[2 + (at % 4)]!);
      socket.write(frame(`echo ${Buffer.from(data).toString()}`, false));
    });
  });
  onTestFinished(() => void server.close());
  return listening(server);
}

test('a WebSocket is opened and carries frames both ways', async () => {
  const { yard, port } = await openProxy();
  await yard.record({ port: await webSocketBackend() });
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let seen = '';
  socket.on('data', (bytes: Buffer) => (seen += bytes.toString('latin1')));
  socket.write(
    'GET /live HTTP/1.1\r\nHost: web.main.shop.localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  await until(() => seen.includes('hello'));
  expect(seen).toMatch(/^HTTP\/1.1 101 /);
  expect(seen).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  expect(seen).toContain('hello web.main.shop.localhost /live');
  for (const word of ['one', 'two']) {
    socket.write(frame(word, true));
    await until(() => seen.includes(`echo ${word}`));
  }
});

test('a declined upgrade gets the response of the service, one without a service a 502', async () => {
  const { yard, port } = await openProxy();
  await yard.record({ port: await backend((_, response) => response.writeHead(403).end('no sockets')) });
  const asked = (host: string, upgrade: string, body = '') =>
    raw(
      port,
      `POST / HTTP/1.1\r\nHost: ${host}\r\nUpgrade: ${upgrade}\r\nConnection: Upgrade, HTTP2-Settings\r\n` +
        `HTTP2-Settings: AAMAAABk\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  // A client that offers HTTP/2 gets a plain response, after which the connection ends.
  expect(await asked('web.main.shop.localhost', 'h2c', 'body')).toMatch(/^HTTP\/1.1 403 [^]*no sockets/);
  expect(await asked('api.main.shop.localhost', 'websocket')).toMatch(/^HTTP\/1.1 502 [^]*no route/);
  await yard.record({ port: 1 });
  expect(await asked('web.main.shop.localhost', 'websocket')).toMatch(/^HTTP\/1.1 502 [^]*does not respond/);
});
