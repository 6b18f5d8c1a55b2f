import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../shared/log.ts';
import {
  call,
  cancelled,
  events,
  initialize,
  json,
  open,
  openInitialized,
  result,
  serve,
  serveRaw,
  turnedAway,
  until,
  withoutStream,
  type Handler,
} from './remote-transport.cases.ts';

/** An address without a listener. */
async function nowhere(): Promise<string> {
  const server = await serve(() => undefined);
  await server.close();
  return server.url;
}

describe('a server that cannot be reached', () => {
  test('fails the handshake with the reason and the next step, and does not end the transport', async () => {
    const url = await nowhere();
    const rig = open(url);
    rig.write(initialize);
    expect(await rig.sentence(1)).toBe(
      `START_FAILED: Server 'far' cannot be reached at ${url}: connection refused. Check that it is running and that its url is right.`,
    );
    expect(rig.ends).toEqual([]);
    await rig.transport.stop();
    expect(rig.failures).toHaveLength(1);
  });

  test('shows the address only as it may be shown', async () => {
    const url = (await nowhere()).replace('//', '//me:hunter22@');
    const lines: string[] = [];
    const log = createLogger({ level: 'debug', program: 't', write: (line) => lines.push(line) });
    const rig = open({ url: `${url}?key=sesame11`, shown: { url: 'http://shown/mcp' } }, { log });
    rig.write(initialize);
    const sentence = await rig.sentence(1);
    expect(sentence).toContain('at http://shown/mcp: connection refused');
    expect(sentence + lines.join('')).not.toMatch(/hunter22|sesame11/);
  });

  test('a name that is none, and plain HTTP where TLS is expected, have hints of their own', async () => {
    const named = open('http://no-such-host.invalid/mcp');
    named.write(initialize);
    expect(await named.sentence(1)).toMatch(
      /START_FAILED: .*(host not found|DNS lookup failed).*host name in its url/,
    );
    const server = await serve(() => undefined);
    const secure = open(server.url.replace('http:', 'https:'));
    secure.write(initialize);
    expect(await secure.sentence(1)).toMatch(
      /START_FAILED: .*that address does not use TLS.*http: instead of https:/,
    );
  });

  test('an address that is none is a clear error', async () => {
    for (const url of ['nonsense', 'ftp://127.0.0.1/x']) {
      const rig = open(url);
      rig.write(initialize);
      expect(await rig.sentence(1)).toContain(`has a url that is not an http: or https: address: ${url}`);
      await rig.transport.stop();
    }
  });

  test('later on, what was not taken may be sent again and the transport is over', async () => {
    const server = await serve(withoutStream((seen, response) => json(response, result(seen.message.id))));
    // Prevents kept connections, whose end might be noticed late.
    server.server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await rig.answer(2);
    await until(() => server.seen.some((seen) => seen.method === 'GET'));
    await server.close();
    rig.write(call(3));
    rig.write(call(4));
    await until(() => rig.ends.length === 1);
    expect(rig.failures).toEqual([
      { id: 3, failure: { kind: 'not-taken' } },
      { id: 4, failure: { kind: 'not-taken' } },
    ]);
    expect(rig.ends).toEqual([
      { kind: 'lost', how: `cannot be reached at ${server.url}: connection refused` },
    ]);
    expect(rig.transport.open).toBe(false);
    rig.write(call(5));
    expect(await rig.failure(5)).toEqual({ kind: 'not-taken' });
  });

  /** A transport with one call in progress, and a server that accepts no more connections. */
  async function busyTransport() {
    const held: ServerResponse[] = [];
    const server = await serve(
      withoutStream((seen, response) => {
        if (seen.message.id === 2) held.push(response);
        else json(response, result(seen.message.id));
      }),
    );
    // Prevents kept connections, whose end might be noticed late.
    server.server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
    const rig = await openInitialized(server.url);
    await until(() => server.seen.some((seen) => seen.method === 'GET'));
    rig.write(call(2));
    await until(() => held.length === 1);
    server.server.close();
    await until(async () => (await server.connections()) === 1);
    return { server, rig, answer: () => json(held[0]!, result(2)) };
  }

  test('a moment without connections costs nobody anything while another call is at work', async () => {
    const { server, rig, answer } = await busyTransport();
    rig.write(call(3));
    // Connects after ours, so ours was refused too.
    await until(() => turnedAway(server.url));
    await server.again();
    await rig.answer(3);
    answer();
    await rig.answer(2);
    expect(rig.failures).toEqual([]);
    expect(rig.ends).toEqual([]);
    expect(rig.transport.open).toBe(true);
  });

  test('a call that cannot connect fails alone, and the one at work is answered', async () => {
    const { server, rig, answer } = await busyTransport();
    rig.write(call(3));
    expect(await rig.sentence(3)).toBe(
      `SERVER_LOST: Server 'far' cannot be reached at ${server.url}: connection refused. The request was not sent; try again.`,
    );
    expect(rig.ends).toEqual([]);
    answer();
    await rig.answer(2);
    // Once the server is gone, the transport ends, and requests that it did not accept may be sent again.
    rig.write(call(4));
    expect(await rig.failure(4)).toEqual({ kind: 'not-taken' });
    await until(() => rig.ends.length === 1);
    expect(rig.ends).toMatchObject([{ kind: 'lost' }]);
  });

  test('a call that waits for its connection can be cancelled, and the transport stopped', async () => {
    const { server, rig } = await busyTransport();
    rig.write(call(3));
    rig.write(call(4));
    rig.write(cancelled(3));
    await until(() => turnedAway(server.url));
    await rig.transport.stop();
    await server.again();
    expect(rig.failures).toEqual([]);
    expect(server.seen.some((seen) => [3, 4].includes(seen.message?.id))).toBe(false);
  });

  test('calls that have lost their own connection do not keep a transport alive that can make none', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        events(response, 'retry: 60000\nid: a1\ndata:\n\n');
        if (seen.message.id === 2) response.end();
      }),
    );
    server.server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => server.seen.some((seen) => seen.message?.id === 2));
    await until(async () => (await server.connections()) === 0);
    await server.close();
    rig.write(call(3));
    await until(() => rig.ends.length === 1);
    expect(await rig.failure(3)).toEqual({ kind: 'not-taken' });
    expect(await rig.sentence(2)).toMatch(
      /^SERVER_LOST: Server 'far' cannot be reached at .*: connection refused\. The request may have been processed/,
    );
  });

  test('an IPv6 address works', async () => {
    const server = await serve((seen, response) => json(response, result(seen.message.id)));
    await server.close();
    const port = await new Promise<number | undefined>((resolve) => {
      server.server.once('error', () => resolve(undefined));
      server.server.listen(0, '::1', () => resolve((server.server.address() as AddressInfo).port));
    });
    if (port === undefined) return;
    const rig = open(`http://[::1]:${port}/mcp`);
    rig.write(initialize);
    await rig.answer(1);
  });
});

describe('a session that the server lost', () => {
  const refusals: [string, Handler][] = [
    ['HTTP 404', (_, response) => response.writeHead(404).end('gone')],
    [
      'HTTP 400 that speaks of the session',
      (_, response) => {
        response.writeHead(400, { 'Content-Type': 'application/json' });
        const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
        response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
      },
    ],
  ];
  test.each(refusals)('is told once by %s, and what was sent may be sent again', async (_, refuse) => {
    const server = await serve(withoutStream(refuse));
    const rig = await openInitialized(server.url);
    for (const id of [2, 3, 4]) rig.write(call(id));
    await until(() => rig.ends.length === 1);
    expect(rig.failures.map(({ id }) => id).sort()).toEqual([2, 3, 4]);
    expect(rig.failures.every(({ failure }) => failure.kind === 'not-taken')).toBe(true);
    expect(rig.ends).toEqual([{ kind: 'session-lost' }]);
    expect(rig.transport.open).toBe(false);
    rig.write(call(5));
    expect(await rig.failure(5)).toEqual({ kind: 'not-taken' });
    await rig.transport.stop();
    expect(server.seen.some((seen) => seen.method === 'DELETE')).toBe(false);
    expect(rig.ends).toHaveLength(1);
  });

  test.each<[string, number, (id: number) => object]>([
    [
      'HTTP 404 with an error for it',
      404,
      (id) => ({ id, error: { code: -32601, message: 'Unknown tool' } }),
    ],
    ['HTTP 404 with a result', 404, (id) => ({ id, result: { found: false } })],
    [
      'HTTP 400 with an error for it that speaks of a session',
      400,
      (id) => ({ id, error: { code: -32000, message: 'Invalid session id' } }),
    ],
  ])('is not told by %s: that is the answer', async (_, status, body) => {
    const server = await serve(
      withoutStream((seen, response) => {
        response.writeHead(status, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', ...body(seen.message.id) }));
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    expect(await rig.answer(2)).toMatchObject(body(2));
    expect(rig.ends).toEqual([]);
    expect(rig.failures).toEqual([]);
  });

  test.each([
    'Your database session has expired',
    '{"error":"browser session crashed"}',
    'Invalid session id',
  ])('is not told by HTTP 400 with %s: that may come from a call that ran', async (text) => {
    const server = await serve(withoutStream((_, response) => response.writeHead(400).end(text)));
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    expect(await rig.sentence(2)).toMatch(/^SERVER_ANSWERED_BADLY: .*HTTP 400/);
    expect(rig.ends).toEqual([]);
  });

  test('does not take away an answer that has begun', async () => {
    let begun: ServerResponse | undefined;
    const server = await serve(
      withoutStream((seen, response) => {
        if (seen.message.id === 3) response.writeHead(404).end();
        else {
          events(response, ': working\n\n');
          begun = response;
        }
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => begun !== undefined);
    rig.write(call(3));
    expect(await rig.failure(3)).toEqual({ kind: 'not-taken' });
    begun!.end(`data: ${JSON.stringify(result(2))}\n\n`);
    await rig.answer(2);
    await until(() => rig.ends.length === 1);
    expect(rig.ends).toEqual([{ kind: 'session-lost' }]);
    expect(rig.failures).toHaveLength(1);
  });

  test('one that hears nothing does not hold up the news for ever', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        if (seen.message.id === 3) response.writeHead(404).end();
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => server.seen.some((seen) => seen.message?.id === 2));
    rig.write(call(3));
    expect(await rig.failure(3)).toEqual({ kind: 'not-taken' });
    expect(rig.transport.open).toBe(false);
    await until(() => rig.ends.length === 1);
    expect(await rig.sentence(2)).toMatch(
      /^SERVER_LOST: Server 'far' lost the session before it responded\. .*may have been processed/,
    );
    expect(rig.failures).toHaveLength(2);
  });
});

test('nothing is left of a transport that is stopped in the middle of everything', async () => {
  const url = await serveRaw(() => undefined);
  const rig = open(url);
  rig.write(initialize);
  await rig.transport.stop();
  expect(rig.failures).toEqual([]);
  expect(rig.ends).toEqual([]);
  expect(rig.transport.open).toBe(false);
  rig.write(call(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(rig.transport.messages.backlog).toBe(0);
  expect(rig.failures).toEqual([]);
});
