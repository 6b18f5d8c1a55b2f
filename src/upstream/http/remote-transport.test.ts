import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../shared/log.ts';
import type { Login, NotRenewed } from '../login.ts';
import {
  call,
  events,
  openInitialized,
  initializeResult,
  initialize,
  json,
  open,
  serve,
  turnedAway,
  until,
  withoutStream,
  type Handler,
} from './remote-transport.cases.ts';

const result = (id: number, value: unknown = {}): object => ({ jsonrpc: '2.0', id, result: value });
const cancelled = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

/** A server on loopback that speaks no HTTP, or not to the end. */
async function serveRaw(connected: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** An address where nobody listens. */
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
    await rig.link.stop();
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
      await rig.link.stop();
    }
  });

  test('later on, what was not taken may be sent again and the link is over', async () => {
    const server = await serve(withoutStream((seen, response) => json(response, result(seen.message.id))));
    // So that no connection is kept, whose end might be seen late.
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
    expect(rig.link.open).toBe(false);
    rig.write(call(5));
    expect(await rig.failure(5)).toEqual({ kind: 'not-taken' });
  });

  /** A link with one call at work, and a server that takes no more connections. */
  async function besetLink() {
    const held: ServerResponse[] = [];
    const server = await serve(
      withoutStream((seen, response) => {
        if (seen.message.id === 2) held.push(response);
        else json(response, result(seen.message.id));
      }),
    );
    // So that no connection is kept, whose end might be seen late.
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
    const { server, rig, answer } = await besetLink();
    rig.write(call(3));
    // Behind ours, so that ours was turned away too.
    await until(() => turnedAway(server.url));
    await server.again();
    await rig.answer(3);
    answer();
    await rig.answer(2);
    expect(rig.failures).toEqual([]);
    expect(rig.ends).toEqual([]);
    expect(rig.link.open).toBe(true);
  });

  test('a call that cannot connect fails alone, and the one at work is answered', async () => {
    const { server, rig, answer } = await besetLink();
    rig.write(call(3));
    expect(await rig.sentence(3)).toBe(
      `SERVER_LOST: Server 'far' cannot be reached at ${server.url}: connection refused. The request was not sent; try again.`,
    );
    expect(rig.ends).toEqual([]);
    answer();
    await rig.answer(2);
    // With nobody there any more it is the end, and what was not taken may be sent again.
    rig.write(call(4));
    expect(await rig.failure(4)).toEqual({ kind: 'not-taken' });
    await until(() => rig.ends.length === 1);
    expect(rig.ends).toMatchObject([{ kind: 'lost' }]);
  });

  test('a call that waits for its connection can be cancelled, and the link ended', async () => {
    const { server, rig } = await besetLink();
    rig.write(call(3));
    rig.write(call(4));
    rig.write(cancelled(3));
    await until(() => turnedAway(server.url));
    await rig.link.stop();
    await server.again();
    expect(rig.failures).toEqual([]);
    expect(server.seen.some((seen) => [3, 4].includes(seen.message?.id))).toBe(false);
  });

  test('calls that have lost their own connection do not keep up a link that can make none', async () => {
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
    rig.listen();
    rig.write(initialize);
    await rig.answer(1);
  });
});

describe('a session that the server forgot', () => {
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
    expect(rig.ends).toEqual([{ kind: 'forgotten' }]);
    expect(rig.link.open).toBe(false);
    rig.write(call(5));
    expect(await rig.failure(5)).toEqual({ kind: 'not-taken' });
    await rig.link.stop();
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
    expect(rig.ends).toEqual([{ kind: 'forgotten' }]);
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
    expect(rig.link.open).toBe(false);
    await until(() => rig.ends.length === 1);
    expect(await rig.sentence(2)).toMatch(
      /^SERVER_LOST: Server 'far' lost the session before it responded\. .*may have been processed/,
    );
    expect(rig.failures).toHaveLength(2);
  });
});

describe('an answer of no use', () => {
  const cases: [string, Handler, RegExp][] = [
    [
      'a bad status',
      (_, response) => response.writeHead(503).end('<b>over\u001b[31m\nloaded</b> Bearer-own-key'),
      /^SERVER_ANSWERED_BADLY: Server 'far' responded with HTTP 503 \(<b>over loaded<\/b> \*\*\*\)\. .*later/,
    ],
    [
      'another type',
      (_, response) => response.writeHead(200, { 'Content-Type': 'text/html; x=y' }).end('<html>Hi'),
      /^SERVER_ANSWERED_BADLY: .*text\/html instead of JSON or an event stream \(Hi\)\. /,
    ],
    ['no message', (_, response) => json(response, '{"ok":true}'), /BADLY: .*invalid JSON-RPC message/],
    [
      'broken JSON',
      (_, response) => json(response, '{"jsonrpc":"2.0","id":2,'),
      /BADLY: .*invalid JSON-RPC message/,
    ],
    [
      'invalid UTF-8',
      (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
      },
      /BADLY: .*invalid JSON-RPC message/,
    ],
    [
      'events that are no messages',
      (_, response) => {
        events(response);
        response.end('data: hello\n\n');
      },
      /BADLY: .*invalid JSON-RPC message/,
    ],
    [
      'the id of another',
      (_, response) => json(response, result(99)),
      /BADLY: .*response to another request/,
    ],
    ['202', (_, response) => response.writeHead(202).end(), /BADLY: .*HTTP 202 and an empty body/],
    ['an empty 200', (_, response) => response.writeHead(200).end(), /BADLY: .*HTTP 200 and an empty body/],
    [
      'a closed connection',
      (_, response) => response.socket!.destroy(),
      /^SERVER_LOST: Lost the connection to server 'far' before it responded: the connection was closed\. The request may have/,
    ],
    [
      'half a body',
      (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
        response.write('{"jsonrpc":"2.0",', () => response.socket!.destroy());
      },
      /^SERVER_LOST: .*before it responded/,
    ],
    [
      'half a body in chunks',
      (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.write('{"jsonrpc":"2.0","id":2,"result":{}}', () => response.socket!.destroy());
      },
      /^SERVER_LOST: .*before it responded/,
    ],
    [
      'a redirect to elsewhere',
      (_, response) => response.writeHead(307, { Location: 'http://127.0.0.2:1/steal' }).end(),
      /^SERVER_ANSWERED_BADLY: Server 'far' redirects to http:\/\/127\.0\.0\.2:1 \(HTTP 307\)/,
    ],
    [
      'a redirect that would change the method',
      (_, response) => response.writeHead(302, { Location: '/other' }).end(),
      /^SERVER_ANSWERED_BADLY: Server 'far' redirects to .*\(HTTP 302\)/,
    ],
    [
      'redirects without end',
      (_, response) => response.writeHead(308, { Location: '/mcp' }).end(),
      /^SERVER_ANSWERED_BADLY: Server 'far' redirects .*\(HTTP 308\)/,
    ],
  ];
  test.each(cases)(
    '%s: fails once with a clear sentence, and the next call works',
    async (_, handler, expected) => {
      const server = await serve(
        withoutStream((seen, response, request) => {
          if (seen.message.id === 2) handler(seen, response, request);
          else json(response, result(seen.message.id));
        }),
      );
      const rig = await openInitialized({ url: server.url, headers: { 'X-Key': 'Bearer-own-key' } });
      rig.write(call(2));
      expect(await rig.sentence(2)).toMatch(expected);
      rig.write(call(3));
      await rig.answer(3);
      expect(rig.failures).toHaveLength(1);
      expect(rig.ends).toEqual([]);
      expect(rig.link.open).toBe(true);
    },
  );

  test('something that is not HTTP', async () => {
    const url = await serveRaw((socket) =>
      socket.once('data', () => socket.end('220 mail.example ready\r\n')),
    );
    const rig = open(url);
    rig.write(initialize);
    expect(await rig.sentence(1)).toMatch(/^SERVER_LOST: .*the response is not HTTP/);
  });

  test('a JSON-RPC error with a bad status is passed on, with our id where it has none', async () => {
    const error = (id: string): string =>
      `{"jsonrpc":"2.0",${id}"error":{"code":-32602,"message":"no","data":1.0}}`;
    const server = await serve(
      withoutStream((seen, response) => {
        response.writeHead(seen.message.id === 2 ? 400 : 500, { 'Content-Type': 'application/json' });
        response.end(error(['"id":null,', '', '"id":4,'][seen.message.id - 2]!));
      }),
    );
    const rig = await openInitialized(server.url);
    for (const id of [2, 3, 4]) {
      rig.write(call(id));
      expect(await rig.answer(id)).toMatchObject({ id, error: { code: -32602 } });
    }
    expect(rig.lines[1]).toBe(error('"id":2,'));
    expect(rig.failures).toEqual([]);
  });

  test('one over the limit fails its request only', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        const { id } = seen.message;
        const answer = JSON.stringify(result(id, { text: 'x'.repeat(id === 4 ? 10 : 200_000) }));
        if (id !== 3) json(response, answer);
        else {
          events(response);
          response.end(`data: ${answer}\n\n`);
        }
      }),
    );
    const rig = await openInitialized(server.url, { messageBytes: 100_000 });
    for (const id of [2, 3]) {
      rig.write(call(id));
      expect(await rig.failure(id)).toEqual({ kind: 'too-large' });
    }
    rig.write(call(4));
    await rig.answer(4);
  });

  test('a body that never ends is ended by a cancellation', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        if (seen.message.id === 3) json(response, result(3));
        else if (seen.message.id === 2) {
          response.writeHead(200, { 'Content-Type': 'application/json' });
          response.write('{"jsonrpc":"2.0",');
        } else response.writeHead(202).end();
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => server.seen.some((seen) => seen.message?.id === 2));
    rig.write(cancelled(2));
    await until(() => server.seen.find((seen) => seen.message?.id === 2)!.cutOff());
    rig.write(call(3));
    await rig.answer(3);
    expect(rig.failures).toEqual([]);
  });

  test('a header that HTTP cannot carry is named, not shown', async () => {
    const rig = open({ url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': 'secret\nvalue' } });
    rig.write(initialize);
    const sentence = await rig.sentence(1);
    expect(sentence).toMatch(/START_FAILED: .*its header x-key contains characters/);
    expect(sentence).not.toContain('secret');
  });
});

describe('a login', () => {
  /** Gives the tokens in order, a new one for each refusal, and `then` behind the last. */
  const loginThen = (then: NotRenewed, ...tokens: (string | undefined)[]) => {
    const asked: { refused: string | undefined; challenge: string | undefined }[] = [];
    let current = 0;
    const login: Login = {
      authorization: () => Promise.resolve(tokens[current]),
      renewed: (refused, challenge) => {
        asked.push({ refused, challenge });
        current = Math.min(current + 1, tokens.length);
        const authorization = tokens[current];
        return Promise.resolve(authorization === undefined ? then : { kind: 'renewed', authorization });
      },
    };
    return { login, asked };
  };
  const loginWith = (...tokens: (string | undefined)[]) => loginThen({ kind: 'person' }, ...tokens);
  const guarded = (valid: string): Handler => {
    const inside = withoutStream((seen, response) => json(response, result(seen.message.id)));
    return (seen, response, request) => {
      if (seen.headers.authorization === valid) inside(seen, response, request);
      else response.writeHead(401, { 'WWW-Authenticate': 'Bearer realm="x"' }).end('no');
    };
  };

  test('is sent, and renewed once when it is refused', async () => {
    const server = await serve(guarded('Bearer good'));
    const { login, asked } = loginWith('Bearer old', 'Bearer good');
    const rig = await openInitialized({ url: server.url, login });
    rig.write(call(2));
    await rig.answer(2);
    expect(asked).toEqual([{ refused: 'Bearer old', challenge: 'Bearer realm="x"' }]);
    expect(rig.failures).toEqual([]);
  });

  test.each([
    [[undefined], "LOGIN_NEEDED: Server 'far' requires a login. Run: switchboard auth far"],
    [['Bearer old'], "LOGIN_NEEDED: Server 'far' no longer accepts the login. Run: switchboard auth far"],
    [
      ['Bearer a', 'Bearer b', 'Bearer c'],
      "LOGIN_NEEDED: Server 'far' no longer accepts the login. Run: switchboard auth far",
    ],
  ])('%j that does not help is a clear error', async (tokens, expected) => {
    const server = await serve(guarded('Bearer good'));
    const { login, asked } = loginWith(...tokens);
    const rig = open({ url: server.url, login });
    rig.write(initialize);
    expect(await rig.sentence(1)).toBe(expected);
    expect(asked).toHaveLength(1);
    expect(server.seen).toHaveLength(Math.min(tokens.length, 2));
  });

  test('that cannot be renewed now is told with the reason, not as one that a person should make anew', async () => {
    const server = await serve(guarded('Bearer good'));
    const reason = 'its issuer https://issuer.example: it responded with status 503';
    const { login } = loginThen({ kind: 'unavailable', reason }, undefined);
    const rig = open({ url: server.url, login });
    rig.write(initialize);
    const sentence = await rig.sentence(1);
    expect(sentence).toMatch(
      /^LOGIN_UNAVAILABLE: Server 'far' requires a login, .*: its issuer https:\/\/issuer/,
    );
    expect(sentence).toContain('status 503. Try again later');
    expect(sentence).not.toContain('switchboard auth');
  });

  test('is made as the hint of the target says', async () => {
    const server = await serve(guarded('Bearer good'));
    const loginHint = "Run: mcp-proxy-server auth 'far away' --config here.json";
    const rig = open({ url: server.url, login: loginWith(undefined).login, loginHint });
    rig.write(initialize);
    expect(await rig.sentence(1)).toBe(`LOGIN_NEEDED: Server 'far' requires a login. ${loginHint}`);
  });

  test('is never shown, even where the server repeats it', async () => {
    const server = await serve((seen, response) =>
      response.writeHead(500).end(`bad token ${seen.headers.authorization} for ${seen.path}`),
    );
    const { login } = loginWith('Bearer t0psecret');
    const rig = open({ url: `${server.url}?key=sesame11`, shown: { url: server.url }, login });
    rig.write(initialize);
    expect(await rig.sentence(1)).toContain(
      "Server 'far' responded with HTTP 500 (bad token *** for /mcp?***)",
    );
  });

  test.each<[NotRenewed, RegExp]>([
    [
      { kind: 'rights', scope: 'files:write\u0007', configured: false },
      /^LOGIN_NEEDED: Server 'far' requires permissions that the login does not have: files:write\\x07\. Run: switchboard auth far$/,
    ],
    [
      { kind: 'rights', scope: undefined, configured: true },
      /^LOGIN_NEEDED: .* permissions that the login does not have\. Add them to "scope" under "oauth".* Run: switchboard auth far$/,
    ],
  ])('that has too few rights is told with those that are missing: %j', async (then, expected) => {
    const challenge = 'Bearer error="insufficient_scope", scope="files:write"';
    const inside = guarded('Bearer renewed');
    const server = await serve((seen, response, request) => {
      if (seen.message?.method !== 'tools/call') inside(seen, response, request);
      else response.writeHead(403, { 'WWW-Authenticate': challenge }).end();
    });
    // Also right behind a renewal.
    const { login, asked } = loginThen(then, 'Bearer old', 'Bearer renewed');
    const rig = await openInitialized({ url: server.url, login });
    rig.write(call(2));
    expect(await rig.sentence(2)).toMatch(expected);
    expect(asked.at(-1)).toEqual({ refused: 'Bearer renewed', challenge });
    expect(rig.link.open).toBe(true);
  });

  test('too small a scope counts as refused, another 403 does not', async () => {
    const server = await serve((seen, response) => {
      if (seen.headers.authorization === 'Bearer wide') json(response, initializeResult);
      else
        response
          .writeHead(
            403,
            seen.path === '/mcp' ? { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' } : {},
          )
          .end();
    });
    const wide = open({ url: server.url, login: loginWith('Bearer narrow', 'Bearer wide').login });
    wide.listen();
    wide.write(initialize);
    await wide.answer(1);
    const { login, asked } = loginWith('Bearer narrow');
    const other = open({ url: `${server.origin}/other`, login });
    other.write(initialize);
    expect(await other.sentence(1)).toMatch(/^SERVER_ANSWERED_BADLY: .*HTTP 403/);
    expect(asked).toEqual([]);
  });

  test('of the configuration is never replaced, and its refusal says so', async () => {
    const server = await serve(guarded('Bearer good'));
    const { login, asked } = loginWith('Bearer good');
    const rig = open({ url: server.url, headers: { authorization: 'Bearer mine' }, login });
    rig.write(initialize);
    expect(await rig.sentence(1)).toMatch(
      /^LOGIN_NEEDED: Server 'far' rejected the Authorization header from the configuration \(HTTP 401\)\./,
    );
    expect(asked).toEqual([]);
  });

  test('by user name and password is called that, and the password is not shown', async () => {
    const server = await serve((seen, response) => {
      if (seen.path === '/mcp') response.writeHead(401).end();
      else response.writeHead(500).end('no such password: hunter22');
    });
    const headers = { Authorization: `Basic ${Buffer.from('me:hunter22').toString('base64')}` };
    const refused = open({ url: server.url, headers });
    refused.write(initialize);
    expect(await refused.sentence(1)).toMatch(
      /^LOGIN_NEEDED: Server 'far' rejected the user name and password from the configuration \(HTTP 401\)\./,
    );
    const repeated = open({ url: `${server.origin}/other`, headers });
    repeated.write(initialize);
    expect(await repeated.sentence(1)).toContain('(no such password: ***)');
  });
});

test('nothing is left of a link that is stopped in the middle of everything', async () => {
  const url = await serveRaw(() => undefined);
  const rig = open(url);
  rig.write(initialize);
  await rig.link.stop();
  expect(rig.failures).toEqual([]);
  expect(rig.ends).toEqual([]);
  expect(rig.link.input.destroyed && rig.link.output.destroyed).toBe(true);
});
