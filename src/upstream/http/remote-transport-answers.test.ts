import { describe, expect, test } from 'vitest';
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
  until,
  withoutStream,
  type Handler,
} from './remote-transport.cases.ts';

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
      /^SERVER_ANSWERED_BADLY: Server 'far' redirects more than 5 times \(HTTP 308\)/,
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
      expect(rig.transport.open).toBe(true);
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
