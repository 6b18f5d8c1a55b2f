import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  call,
  events,
  initializeResult,
  initialize,
  initialized,
  json,
  open,
  serve,
  turnedAway,
  until,
  type Handler,
  result,
} from './remote-transport.cases.ts';

/** A server of the 2024 protocol: one stream, and an address for messages. */
async function serveOld(
  handler: (message: any, say: (message: unknown) => void, response: ServerResponse) => void,
  endpoint = '/messages?session=1',
) {
  let stream: ServerResponse | undefined;
  const say = (message: unknown): void => {
    stream!.write(
      `event: message\ndata: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`,
    );
  };
  const answer: Handler = (seen, response) => {
    if (seen.method === 'GET') {
      stream = response;
      events(response, `event: endpoint\ndata: ${endpoint}\n\n`);
    } else if (!seen.path.startsWith('/messages')) response.writeHead(404).end('Cannot POST');
    else if (seen.message.method === 'initialize') {
      response.writeHead(202).end('Accepted');
      say(initializeResult);
    } else handler(seen.message, say, response);
  };
  const server = await serve(answer);
  return { ...server, say, stream: () => stream! };
}

const accepting = (message: any, say: (message: unknown) => void, response: ServerResponse): void => {
  response.writeHead(202).end('Accepted');
  if (message.id !== undefined) say(result(message.id, message.params));
};

async function openInitializedSse(
  url: string,
  transport: 'sse' | 'auto' = 'sse',
  learned: { transport?: 'http' | 'sse' } = {},
  messageBytes = 1 << 24,
) {
  const rig = open({ url, transport }, { learned, messageBytes });
  rig.write(initialize);
  await rig.answer(1);
  rig.write(initialized);
  return rig;
}

describe('HTTP+SSE', () => {
  test('messages are posted where the server says, and everything comes by its stream', async () => {
    const server = await serveOld(accepting);
    const rig = await openInitializedSse(server.url);
    const text = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"n":12345678901234567890,"x":1.0}}';
    rig.write(text);
    for (let id = 3; id < 40; id++) rig.write(call(id, { id }));
    for (let id = 3; id < 40; id++) expect((await rig.answer(id)).result.arguments).toEqual({ id });
    await rig.answer(2);
    const posts = server.seen.filter((seen) => seen.method === 'POST');
    expect(posts.every((seen) => seen.path === '/messages?session=1')).toBe(true);
    expect(posts.map((seen) => seen.body)).toContain(text);
    expect(rig.failures).toEqual([]);
    await rig.transport.stop();
    await until(async () => (await server.connections()) === 0);
    expect(rig.ends).toEqual([]);
  });

  test('the end of the stream is the end of the transport', async () => {
    const server = await serveOld(accepting);
    const rig = await openInitializedSse(server.url);
    server.stream().end();
    await until(() => rig.ends.length === 1);
    expect(rig.ends).toEqual([{ kind: 'lost', how: 'closed its event stream' }]);
    rig.write(call(2));
    expect(await rig.failure(2)).toEqual({ kind: 'not-taken' });
  });

  test('what was at work when the stream ended may have been processed', async () => {
    const server = await serveOld((_, __, response) => response.writeHead(202).end());
    const rig = await openInitializedSse(server.url);
    rig.write(call(2));
    await until(() => server.seen.some((seen) => seen.message?.id === 2));
    server.stream().end();
    expect(await rig.sentence(2)).toMatch(
      /^SERVER_LOST: Server 'far' closed its event stream before it responded\. .*may have been processed/,
    );
    await until(() => rig.ends.length === 1);
    expect(rig.failures).toHaveLength(1);
  });

  test('a call that cannot connect is tried again, then fails alone; the one at work is answered', async () => {
    const server = await serveOld((message, say, response) => {
      if (message.id === 2) response.writeHead(202).end();
      else accepting(message, say, response);
    });
    // Each message then requires its own connection.
    server.server.prependListener('request', (request, response) => {
      if (request.method === 'POST') response.setHeader('Connection', 'close');
    });
    const rig = await openInitializedSse(server.url);
    rig.write(call(2));
    await until(() => server.seen.some((seen) => seen.message?.id === 2));
    server.server.close();
    await until(async () => (await server.connections()) === 1);
    rig.write(call(3));
    expect(await rig.sentence(3)).toMatch(
      /^SERVER_LOST: Server 'far' cannot be reached at .*: connection refused\. The request was not sent; try again\./,
    );
    rig.write(call(4));
    await until(() => turnedAway(server.url));
    await server.again();
    await rig.answer(4);
    server.say(result(2));
    await rig.answer(2);
    expect(rig.failures).toHaveLength(1);
    expect(rig.ends).toEqual([]);
  });

  test('a refused message fails its request, an error in JSON-RPC is its answer', async () => {
    const server = await serveOld((message, _, response) => {
      if (message.id === 2) response.writeHead(500).end('oh\u0007');
      else if (message.id === 3)
        response.writeHead(400).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}');
      else response.writeHead(202).end();
    });
    const rig = await openInitializedSse(server.url);
    rig.write(call(2));
    rig.write(call(3));
    expect(await rig.sentence(2)).toContain("Server 'far' responded with HTTP 500 (oh\\x07)");
    expect((await rig.answer(3)).error.code).toBe(-32600);
    expect(rig.failures).toHaveLength(1);
  });

  test('an answer over the limit fails its request, and the stream goes on', async () => {
    const server = await serveOld((message, say, response) => {
      response.writeHead(202).end();
      if (message.id !== undefined) say(result(message.id, 'x'.repeat(message.id === 2 ? 50_000 : 5)));
    });
    const rig = await openInitializedSse(server.url, 'sse', {}, 10_000);
    // A notification over the limit answers no request.
    server.say({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(20_000) } });
    rig.write(call(2));
    expect(await rig.failure(2)).toEqual({ kind: 'too-large' });
    rig.write(call(3));
    await rig.answer(3);
  });

  test('a response that is not a valid message fails its request, and the stream goes on', async () => {
    const server = await serveOld((message, say, response) => {
      if (message.id === 2) {
        response.writeHead(202).end();
        say('{"jsonrpc":"2.0","id":2,"result":{"content":[],"content":[]}}');
      } else accepting(message, say, response);
    });
    const rig = await openInitializedSse(server.url);
    server.say('{"jsonrpc":"2.0"}');
    rig.write(call(2));
    expect(await rig.sentence(2)).toMatch(/^SERVER_ANSWERED_BADLY: .*an invalid JSON-RPC message/);
    rig.write(call(3));
    await rig.answer(3);
    expect(rig.failures).toHaveLength(1);
  });

  test('a cancellation goes behind its request', async () => {
    const server = await serveOld((message, say, response) => {
      if (message.id === 2) response.writeHead(202).end();
      else accepting(message, say, response);
    });
    const rig = await openInitializedSse(server.url);
    rig.write(call(3));
    await rig.answer(3);
    rig.write(call(2, { text: 'x'.repeat(1_000_000) }));
    await new Promise((resolve) => setImmediate(resolve));
    rig.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    await until(() => server.seen.some((seen) => seen.message?.method === 'notifications/cancelled'));
    expect(server.seen.map((seen) => seen.message?.method).slice(-2)).toEqual([
      'tools/call',
      'notifications/cancelled',
    ]);
  });

  test('an address for messages at another origin gets nothing', async () => {
    const server = await serveOld(accepting, 'http://127.0.0.2:1/steal');
    const rig = open({ url: server.url, transport: 'sse', headers: { authorization: 'Bearer secret' } });
    rig.write(initialize);
    expect(await rig.sentence(1)).toMatch(
      /^SERVER_ANSWERED_BADLY: .*an address for messages at http:\/\/127\.0\.0\.2:1/,
    );
    expect(rig.transport.open).toBe(false);
  });

  test.each<[string, Handler, RegExp]>([
    ['JSON', (_, response) => json(response, '{}'), /BADLY: .*application\/json instead of/],
    ['a bad status', (_, response) => response.writeHead(500).end('x'), /BADLY: .*HTTP 500 \(x\)/],
    [
      'an empty stream',
      (_, response) => {
        events(response);
        response.end();
      },
      /START_FAILED: Server 'far' closed its event stream before it was ready/,
    ],
    ['401', (_, response) => response.writeHead(401).end(), /^LOGIN_NEEDED: /],
  ])('%s instead of a stream is a clear error', async (_, handler, expected) => {
    const server = await serve(handler);
    const rig = open({ url: server.url, transport: 'sse' });
    rig.write(initialize);
    expect(await rig.sentence(1)).toMatch(expected);
    expect(rig.failures).toHaveLength(1);
  });
});

describe('where the transport is left open', () => {
  test('a server that knows Streamable HTTP is spoken to so', async () => {
    const server = await serve((seen, response) => {
      if (seen.method === 'POST' && seen.message.id === 1) json(response, initializeResult);
      else response.writeHead(seen.method === 'GET' ? 405 : 202).end();
    });
    const learned = {};
    await openInitializedSse(server.url, 'auto', learned);
    expect(learned).toEqual({ transport: 'http' });
  });

  test('an old one is found out, and remembered', async () => {
    const server = await serveOld(accepting);
    const learned = {};
    const first = await openInitializedSse(server.url, 'auto', learned);
    expect(learned).toEqual({ transport: 'sse' });
    first.write(call(2));
    await first.answer(2);
    expect(first.failures).toEqual([]);
    expect(server.seen.filter((seen) => seen.path === '/mcp').map((seen) => seen.method)).toEqual([
      'POST',
      'GET',
    ]);
    await first.transport.stop();
    await openInitializedSse(server.url, 'auto', learned);
    expect(server.seen.filter((seen) => seen.path === '/mcp' && seen.method === 'POST')).toHaveLength(1);
  });

  test('one that speaks neither gets one error that names both', async () => {
    const server = await serve((seen, response) =>
      response.writeHead(seen.method === 'GET' ? 404 : 405).end('none'),
    );
    const rig = open({ url: server.url, transport: 'auto' });
    rig.write(initialize);
    expect(await rig.sentence(1)).toMatch(
      /^SERVER_ANSWERED_BADLY: .*Streamable HTTP with HTTP 405 \(none\), and to HTTP\+SSE with HTTP 404 \(none\)/,
    );
    expect(rig.failures).toHaveLength(1);
  });

  test('a refusal in JSON-RPC is an answer, not a reason to try otherwise', async () => {
    const server = await serve((_, response) => {
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"too old"}}');
    });
    const rig = open({ url: server.url, transport: 'auto' });
    rig.write(initialize);
    expect((await rig.answer(1)).error.message).toBe('too old');
    expect(server.seen).toHaveLength(1);
  });

  test('a remembered transport that is no longer spoken is forgotten', async () => {
    const server = await serve((seen, response) => {
      if (seen.method === 'POST') json(response, initializeResult);
      else response.writeHead(405).end();
    });
    const learned: { transport?: 'http' | 'sse' } = { transport: 'sse' };
    const rig = open({ url: server.url, transport: 'auto' }, { learned });
    rig.write(initialize);
    expect(await rig.sentence(1)).toContain('HTTP 405');
    expect(learned).toEqual({});
    await openInitializedSse(server.url, 'auto', learned);
  });
});

test('endless event lines that are no messages end the connection, and the calls that wait', async () => {
  const server = await serveOld((message, say, response) => {
    response.writeHead(202).end();
    if (message.id === 2) server.stream().write(': x\n'.repeat(4 * 1024 * 1024));
    else if (message.id !== undefined) say(result(message.id));
  });
  const rig = await openInitializedSse(server.url);
  rig.write(call(2));
  expect(await rig.sentence(2)).toContain('sent too much on its event stream that is not a message');
});
