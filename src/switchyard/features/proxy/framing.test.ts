/** Every method with every kind of body, in bytes: what a client sends, and what the service receives. */
import { METHODS } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listening, openProxy } from '../../../../test/helpers/yard-proxy.ts';
import { talk, type RawTalk } from '../../../../test/helpers/yard-traffic.ts';

/** One request as the service received it. */
interface Arrived {
  readonly method: string;
  /** All headers that determine the length of the body, in lower case. */
  readonly framing: readonly string[];
  readonly expect: boolean;
  readonly announced: string | undefined;
  readonly body: string;
  readonly trailers: string;
}

interface Kind {
  readonly headers: string;
  /** What follows the head when it is sent. */
  readonly bytes: string;
  readonly framing: readonly string[];
  readonly body?: string;
  readonly trailers?: string;
  readonly expect?: boolean;
  readonly announced?: string;
}

const CHUNKED = 'transfer-encoding: chunked';
const KINDS: Readonly<Record<string, Kind>> = {
  'no body': { headers: '', bytes: '', framing: [] },
  'an empty body': { headers: 'Content-Length: 0\r\n', bytes: '', framing: ['content-length: 0'] },
  'a length': {
    headers: 'content-length: 5\r\n',
    bytes: 'hello',
    framing: ['content-length: 5'],
    body: 'hello',
  },
  chunks: {
    headers: 'Transfer-Encoding: chunked\r\n',
    bytes: '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
    framing: [CHUNKED],
    body: 'hello',
  },
  'empty chunks': { headers: 'Transfer-Encoding: Chunked\r\n', bytes: '0\r\n\r\n', framing: [CHUNKED] },
  'Expect and a length': {
    headers: 'Content-Length: 5\r\nExpect: 100-continue\r\n',
    bytes: 'hello',
    framing: ['content-length: 5'],
    body: 'hello',
    expect: true,
  },
  'Expect and chunks': {
    headers: 'Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n',
    bytes: '5\r\nhello\r\n0\r\n\r\n',
    framing: [CHUNKED],
    body: 'hello',
    expect: true,
  },
  trailers: {
    headers: 'Transfer-Encoding: chunked\r\nTrailer: X-Sum, X-Odd\r\n',
    bytes: '5\r\nhello\r\n0\r\nX-Sum: 5\r\nX-Odd: yes\r\n\r\n',
    framing: [CHUNKED],
    body: 'hello',
    trailers: 'X-Sum: 5\r\nX-Odd: yes\r\n',
    announced: 'X-Sum, X-Odd',
  },
};

/**
 * Without a body, these methods have no header about it; for the others, a missing length could mean that a body
 * follows.
 */
const NEVER_FRAMED = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'];

/** A service that only records bytes and keeps its connections open. */
async function recorder(): Promise<{ readonly port: number; readonly arrived: Arrived[] }> {
  const arrived: Arrived[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let bytes = '';
    let isContinued = false;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.toString('latin1');
      for (let parsed = parse(bytes); parsed !== undefined; parsed = parse(bytes)) {
        const { request, rest } = parsed;
        if (request.expect && !isContinued) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        isContinued = request.expect;
        if (rest === undefined) return;
        isContinued = false;
        bytes = rest;
        arrived.push(request);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-From: recorder\r\n\r\n');
      }
    });
  });
  onTestFinished(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  return { port: await listening(server), arrived };
}

/** The first request in these bytes. `rest` is undefined while its body is incomplete. */
function parse(bytes: string): { readonly request: Arrived; readonly rest: string | undefined } | undefined {
  const [, head = '', after = ''] = /^([^]*?\r\n)\r\n([^]*)$/.exec(bytes) ?? [];
  if (head === '') return undefined;
  const [start = '', ...lines] = head.toLowerCase().split('\r\n');
  const framing = lines.filter((line) => /^(content-length|transfer-encoding):/.test(line));
  const length = Number(/^content-length: (\d+)$/m.exec(framing.join('\n'))?.[1] ?? 0);
  const [whole, chunks = '', trailers = ''] = framing.includes(CHUNKED)
    ? (/^((?:[1-9a-f][0-9a-f]*\r\n[^]*?\r\n)*)0\r\n((?:[^\r\n]+\r\n)*)\r\n/i.exec(after) ?? [])
    : after.length >= length
      ? [after.slice(0, length), '']
      : [];
  const body = framing.includes(CHUNKED)
    ? chunks.replace(/[0-9a-f]+\r\n([^\r]*)\r\n/gi, '$1')
    : (whole ?? '');
  const request = {
    method: start.split(' ')[0]!.toUpperCase(),
    framing,
    expect: lines.includes('expect: 100-continue'),
    announced: /^trailer: (.*)\r$/im.exec(head)?.[1],
    body,
    trailers,
  };
  return { request, rest: whole === undefined ? undefined : after.slice(whole.length) };
}

async function exchange({ socket, takeThrough }: RawTalk, method: string, kind: Kind): Promise<string> {
  socket.write(`${method} / HTTP/1.1\r\nHost: web.main.shop.localhost\r\n${kind.headers}\r\n`);
  if (kind.expect === true) expect(await takeThrough('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(kind.bytes);
  return takeThrough('\r\n\r\n');
}

/** All kinds of bodies on one connection, which proves that each of them leaves it usable. */
async function sendAll(method: string, port: number, arrived: readonly Arrived[]): Promise<void> {
  const line = await talk(port);
  for (const [name, kind] of Object.entries(KINDS)) {
    const answer = await exchange(line, method, kind);
    expect(answer, `${method} with ${name}`).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*connection: keep-alive/i);
    const bare = kind.framing.length === 0 && !NEVER_FRAMED.includes(method);
    expect({ name, ...arrived.findLast((request) => request.method === method) }).toEqual({
      name,
      method,
      framing: bare ? ['content-length: 0'] : kind.framing,
      expect: kind.expect ?? false,
      announced: kind.announced,
      body: kind.body ?? '',
      trailers: kind.trailers ?? '',
    });
  }
  line.socket.destroy();
}

test('every method arrives once, with its body and trailers and at most one framing header', async () => {
  const { yard, port } = await openProxy();
  const backend = await recorder();
  await yard.record({ port: backend.port });
  // CONNECT opens a tunnel, which the proxy does not support.
  const methods = METHODS.filter((method) => method !== 'CONNECT');
  await Promise.all(methods.map((method) => sendAll(method, port, backend.arrived)));
  expect(backend.arrived).toHaveLength(methods.length * Object.keys(KINDS).length);
});

test('a request with contradictory framing reaches no service', async () => {
  const { yard, port } = await openProxy();
  const backend = await recorder();
  await yard.record({ port: backend.port });
  for (const headers of [
    'Content-Length: 5\r\nContent-Length: 6\r\n',
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    'Content-Length: 5, 6\r\n',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
  ]) {
    const line = await talk(port);
    line.socket.end(`POST / HTTP/1.1\r\nHost: web.main.shop.localhost\r\n${headers}\r\nhello!`);
    expect((await line.takeRest()).toString()).toMatch(/^HTTP\/1.1 (400|501) /);
  }
  expect(backend.arrived).toEqual([]);
});
