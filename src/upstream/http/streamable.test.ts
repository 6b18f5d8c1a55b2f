import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { Client, CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message, readMessage } from '../../wire/index.ts';
import {
  call,
  cancelled,
  events,
  openInitialized,
  initialize,
  initialized,
  json,
  open,
  serve,
  sessionful,
  until,
  withoutStream,
  data,
  note,
  result,
} from './remote-transport.cases.ts';

describe('what is sent', () => {
  test('each message is the body of a POST, to the byte', async () => {
    const server = await serve(withoutStream((seen, response) => json(response, result(seen.message.id))));
    const rig = await openInitialized(server.url);
    const text =
      '{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{"n":12345678901234567890,"x":1.0,"u":"\\u00e4ä"}}';
    rig.write(text);
    await rig.answer(2);
    expect(server.seen.at(-1)!.body).toBe(text);
    expect(server.seen.at(-1)!.method).toBe('POST');
    expect(rig.transport.pid).toBeUndefined();
  });

  test('session and agreed version go with everything after the handshake, configured headers with all', async () => {
    const server = await serve(withoutStream((seen, response) => json(response, result(seen.message.id))));
    const rig = await openInitialized({
      url: server.url,
      headers: { 'X-Key': 'k', Authorization: 'Bearer own' },
    });
    rig.write(call(2));
    await rig.answer(2);
    const [first, second, ...others] = server.seen;
    expect(first!.headers).toMatchObject({
      'x-key': 'k',
      authorization: 'Bearer own',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    });
    expect(first!.headers).not.toHaveProperty('mcp-session-id');
    expect(first!.headers).not.toHaveProperty('mcp-protocol-version');
    for (const seen of [second!, ...others]) {
      expect(seen.headers).toMatchObject({
        'x-key': 'k',
        'mcp-session-id': 'session-1',
        'mcp-protocol-version': '2025-06-18',
      });
    }
  });

  test('a request is posted under our id and with its edits, an answer under the id that it answers', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        if (seen.message.method === undefined) response.writeHead(202).end();
        else json(response, result(seen.message.id));
      }),
    );
    const { transport, answer } = await openInitialized(server.url);
    const chunks = [
      '{"jsonrpc":"2.0","method":"tools/call","par',
      'ams":{"name":"a","x":1.0},"id":"th',
      'eirs"}',
    ];
    const pieces = chunks.map((text) => Buffer.from(text));
    const to = chunks.join('').length;
    const request = readMessage({ chunks: pieces, from: 0, to }, CLIENT_SHAPE, 'newline') as Message;
    const { name } = Client;
    const edits = [{ start: request.start(name), end: request.end(name), with: '"b\u20ac"' }];
    transport.messages.forwardRequest(2, request, edits);
    await answer(2);
    expect(server.seen.at(-1)!.body).toBe(
      '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"b\u20ac","x":1.0},"id":2}',
    );
    const given = Message.fromText('{"jsonrpc":"2.0","id":9,"result":{"n":1.0}}', CLIENT_SHAPE);
    transport.messages.forwardAnswer(request, given, []);
    await until(() => server.seen.some((seen) => seen.message?.result !== undefined));
    expect(server.seen.at(-1)!.body).toBe('{"jsonrpc":"2.0","id":"theirs","result":{"n":1.0}}');
  });

  test('requests wait until the server has taken notifications/initialized', async () => {
    let accept: (() => void) | undefined;
    const server = await serve((seen, response, request) => {
      if (seen.message?.method === 'notifications/initialized')
        accept = () => void response.writeHead(202).end();
      else withoutStream((_, each) => json(each, result(seen.message.id)))(seen, response, request);
    });
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    rig.write(call(3));
    rig.write(cancelled(3));
    await until(() => accept !== undefined);
    expect(server.seen.map((seen) => seen.message?.method)).toEqual(['initialize', initialized.method]);
    accept!();
    await rig.answer(2);
    // A request that was cancelled while it waited was never sent, nor was its cancellation.
    expect(server.seen.filter((seen) => seen.method === 'POST')).toHaveLength(3);
    expect(rig.failures).toEqual([]);
  });

  test('a server that never takes it is asked all the same after a while', async () => {
    const server = await serve((seen, response, request) => {
      if (seen.message?.method !== 'notifications/initialized')
        withoutStream((_, each) => json(each, result(seen.message.id)))(seen, response, request);
    });
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await rig.answer(2);
    expect(rig.failures).toEqual([]);
  });

  test('if the session is lost meanwhile, they count as not taken before it ends', async () => {
    let refuse: (() => void) | undefined;
    const server = await serve((seen, response, request) => {
      if (seen.message?.method === 'notifications/initialized')
        refuse = () => void response.writeHead(404).end();
      else withoutStream((_, each) => json(each, result(seen.message.id)))(seen, response, request);
    });
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => refuse !== undefined);
    refuse!();
    await until(() => rig.ends.length > 0);
    expect(rig.failedBeforeEnd).toEqual([{ id: 2, failure: { kind: 'not-taken' } }]);
  });

  test('answers to what the server asks are posted', async () => {
    const server = await serve(withoutStream((_, response) => response.writeHead(202).end()));
    const rig = await openInitialized(server.url);
    rig.write('{"jsonrpc":"2.0","id":"q-1","result":{"roots":[]}}');
    await until(() => server.seen.some((seen) => seen.message?.id === 'q-1'));
    expect(rig.failures).toEqual([]);
  });

  test.each([
    ['remembered where they are lasting', { '/mcp': 308 }, ['/mcp', '/mcp/', '/mcp/', '/mcp/']],
    ['forgotten where they are not', { '/mcp': 307 }, ['/mcp', '/mcp/', '/mcp', '/mcp/', '/mcp', '/mcp/']],
    [
      'remembered up to the first that is not',
      { '/mcp': 308, '/mcp/': 307, '/now': 308 },
      ['/mcp', '/mcp/', '/now', '/here', '/mcp/', '/now', '/here', '/mcp/', '/now', '/here'],
    ],
  ])('redirects within the origin are followed, and %s', async (_, statuses, expected) => {
    const next: Record<string, string> = { '/mcp': '/mcp/', '/mcp/': '/now', '/now': '/here' };
    const inside = withoutStream((seen, response) => json(response, result(seen.message.id)));
    const server = await serve((seen, response, request) => {
      const status = (statuses as Record<string, number>)[seen.path];
      if (seen.method !== 'POST' || status === undefined) inside(seen, response, request);
      else response.writeHead(status, { Location: next[seen.path] }).end();
    });
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await rig.answer(2);
    const posts = server.seen.filter((seen) => seen.method === 'POST');
    expect(posts.map((seen) => seen.path)).toEqual(expected);
    expect(posts[1]!.body).toBe(JSON.stringify(initialize));
  });

  test.each([
    [5, 'is followed'],
    [6, 'is an error'],
  ])('a chain of %i redirects %s', async (most, outcome) => {
    const server = await serve(
      withoutStream((seen, response) => {
        const hop = Number(seen.path.slice('/mcp'.length));
        if (seen.message.id !== 2 || hop === most) json(response, result(seen.message.id));
        else response.writeHead(307, { Location: `/mcp${hop + 1}` }).end();
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    if (outcome === 'is followed') await rig.answer(2);
    else expect(await rig.sentence(2)).toContain('redirects more than 5 times (HTTP 307)');
    expect(server.seen.filter((seen) => seen.message?.id === 2)).toHaveLength(6);
  });

  test('output that the server does not read waits, and goes on when it does', async () => {
    let go: (() => void) | undefined;
    const server = await serve((seen, response, request) =>
      withoutStream((_, each) => json(each, result(seen.message.id)))(seen, response, request),
    );
    server.server.prependListener('request', (request) => {
      if (Number(request.headers['content-length'] ?? 0) < 1e6) return;
      request.pause();
      go = () => request.resume();
    });
    const rig = await openInitialized(server.url);
    rig.write(call(2, { text: 'x'.repeat(12 * 1024 * 1024) }));
    await until(() => go !== undefined);
    rig.write(call(3, { text: 'y'.repeat(100_000) }));
    rig.write(call(4));
    rig.write(cancelled(4));
    await new Promise((resolve) => setImmediate(resolve));
    expect(rig.transport.messages.backlog).toBeGreaterThan(100_000);
    expect(rig.transport.messages.congested).toBe(true);
    const drained = new Promise<void>((resolve) => rig.transport.messages.whenDrained(resolve));
    expect(server.seen.some((seen) => seen.message?.id === 3)).toBe(false);
    go!();
    await drained;
    expect(rig.transport.messages.congested).toBe(false);
    await rig.answer(2);
    await rig.answer(3);
    expect(rig.transport.messages.backlog).toBe(0);
    // Cancelled while it waited.
    expect(server.seen.some((seen) => seen.message?.id === 4)).toBe(false);
  });
});

describe('what comes back', () => {
  test('JSON with line breaks and odd numbers becomes one line, otherwise unchanged', async () => {
    const server = await serve(
      withoutStream((seen, response) =>
        json(
          response,
          `{\r\n "jsonrpc": "2.0",\n "id": ${seen.message.id},\n "result": {"n":12345678901234567890,"x":1.0}\n}\n`,
          { 'Content-Type': 'Application/JSON; charset=UTF-8' },
        ),
      ),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => rig.lines.length === 2);
    expect(rig.lines[1]).toBe(
      '{   "jsonrpc": "2.0",  "id": 2,  "result": {"n":12345678901234567890,"x":1.0} } ',
    );
  });

  test('an array of messages is taken apart', async () => {
    const server = await serve(
      withoutStream((seen, response) =>
        json(
          response,
          `[ ${JSON.stringify(note('a'))},\n{"jsonrpc":"2.0","id":${seen.message.id},"result":{"x":1.0}} ]`,
        ),
      ),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await rig.answer(2);
    expect(rig.lines.slice(1)).toEqual([
      JSON.stringify(note('a')),
      '{"jsonrpc":"2.0","id":2,"result":{"x":1.0}}',
    ]);
    expect(rig.failures).toEqual([]);
  });

  test('an event stream brings notifications, requests and the answer, in order', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        events(response, `id: p\ndata:\n\n: hello\n${data(note('one'))}`);
        response.write(
          `event: message\r\nid: 1\r\ndata: {"jsonrpc":"2.0","id":"q",\r\ndata: "method":"ping"}\r\n\r\n`,
        );
        response.end(data(result(seen.message.id)));
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await rig.answer(2);
    expect(rig.lines.slice(1)).toEqual([
      JSON.stringify(note('one')),
      '{"jsonrpc":"2.0","id":"q", "method":"ping"}',
      JSON.stringify(result(2)),
    ]);
    // Each message reports on which response it arrived.
    expect(rig.streams).toEqual([1, 2, 2, 2]);
  });

  test('a response in events that is not a valid message fails its request at once', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        const { id } = seen.message;
        if (id === 4) json(response, result(4));
        else if (id === 3)
          events(response, `data: {"jsonrpc":"2.0","id":3,"result":{"content":[],"content":[]}}\n\n`);
        else events(response, `data: {"jsonrpc":"2.0","id":2,"result":{]}\n\n`);
      }),
    );
    const rig = await openInitialized(server.url);
    for (const id of [2, 3]) {
      rig.write(call(id));
      expect(await rig.sentence(id)).toMatch(/^SERVER_ANSWERED_BADLY: .*an invalid JSON-RPC message/);
      await until(() => server.seen.find((seen) => seen.message?.id === id)!.cutOff());
    }
    rig.write(call(4));
    await rig.answer(4);
    expect(rig.failures).toHaveLength(2);
  });

  test('a byte order mark in front of JSON is skipped', async () => {
    const server = await serve(
      withoutStream((seen, response) => json(response, `\ufeff${JSON.stringify(result(seen.message.id))}`)),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    expect(await rig.answer(2)).toEqual(result(2));
  });

  test('ten megabytes go each way', async () => {
    const text = 'ä'.repeat(5 * 1024 * 1024);
    const server = await serve(
      withoutStream((seen, response) => {
        const answer = result(seen.message.id, { text: seen.message.params.arguments.text });
        if (seen.message.id === 2) json(response, answer);
        else {
          events(response);
          response.end(data(answer));
        }
      }),
    );
    const rig = await openInitialized(server.url);
    for (const id of [2, 3]) {
      rig.write(call(id, { text }));
      const answer = await rig.answer(id);
      expect(answer.result.text === text).toBe(true);
    }
  });

  test('a hundred requests at one time get their own answers, long streams or not', async () => {
    const held: ServerResponse[] = [];
    const server = await serve(
      withoutStream((seen, response) => {
        const { id, params } = seen.message;
        if (params.arguments.hold === true) {
          events(response, data(note('held')));
          held.push(response);
        } else if (id % 2 === 0) json(response, result(id, params.arguments));
        else {
          events(response);
          response.end(data(result(id, params.arguments)));
        }
      }),
    );
    const rig = await openInitialized(server.url);
    for (let id = 2; id < 52; id++) rig.write(call(id, { hold: true }));
    await until(() => held.length === 50);
    for (let id = 100; id < 200; id++) rig.write(call(id, { canary: `c${id}` }));
    for (let id = 100; id < 200; id++) expect((await rig.answer(id)).result).toEqual({ canary: `c${id}` });
    expect(rig.failures).toEqual([]);
  });

  test('while the transport is paused, nothing is delivered and bodies are not read for long', async () => {
    const piece = data(note('x'.repeat(60_000)));
    let response: ServerResponse | undefined;
    const server = await serve(
      withoutStream((_, each) => {
        events(each);
        response = each;
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => response !== undefined);
    rig.transport.messages.pause();
    let written = 0;
    while (written < 1000 && response!.writableLength < 4 * 1024 * 1024) {
      response!.write(piece);
      written++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Kernel buffers hold a few megabytes; beyond that, the server has to wait.
    expect(written).toBeLessThan(1000);
    expect(rig.lines).toHaveLength(1);
    rig.transport.messages.resume();
    response!.end(data(result(2)));
    await rig.answer(2);
    expect(rig.lines).toHaveLength(2 + written);
    expect(JSON.parse(rig.lines.at(-1)!)).toEqual(result(2));
  });

  test.each([':\n', '\n', 'data:\n', 'data: x\n\n', 'id: 1\n\n', 'x'])(
    'endless lines %j fail the request they answer, and are not read on',
    async (line) => {
      const block = Buffer.from(line.repeat(65_536 / line.length));
      const server = await serve(
        withoutStream((_, response) => {
          events(response);
          const pour = (): void => {
            while (!response.destroyed && response.write(block));
          };
          response.on('drain', pour);
          pour();
        }),
      );
      const rig = await openInitialized(server.url);
      rig.write(call(2));
      await until(() => rig.failures.length > 0);
      const { failure } = rig.failures[0]!;
      expect(failure).toMatchObject({ kind: 'failed', error: { code: 'SERVER_ANSWERED_BADLY' } });
      await until(() => server.seen.at(-1)!.cutOff());
    },
  );

  test('a stream that stays open behind the answer is dropped', async () => {
    const server = await serve(
      withoutStream((seen, response) => events(response, data(result(seen.message.id)))),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await rig.answer(2);
    await until(() => server.seen.at(-1)!.cutOff());
    expect(rig.failures).toEqual([]);
  });

  test('a cancelled request is cancelled at the server, and then its connection is dropped', async () => {
    const server = await serve(
      withoutStream((seen, response) => {
        if (seen.message.method === 'tools/call') events(response, data(note('working')));
        else response.writeHead(202).end();
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => rig.lines.length === 2);
    rig.write(cancelled(2));
    const asked = server.seen.find((seen) => seen.message?.id === 2)!;
    await until(() => asked.cutOff());
    const methods = server.seen.filter((seen) => seen.method === 'POST').map((seen) => seen.message.method);
    expect(methods.slice(-2)).toEqual(['tools/call', 'notifications/cancelled']);
    expect(rig.failures).toEqual([]);
    expect(rig.transport.open).toBe(true);
  });
});

describe('the stream of the server', () => {
  test('is opened after the handshake, and again where it broke off', async () => {
    const server = await serve(
      sessionful((seen, response) => {
        events(response);
        if (seen.headers['last-event-id'] === undefined)
          response.end(`retry: 100\nid: e1\n${data(note('one'))}`);
        else response.write(data(note('two')));
      }),
    );
    const rig = await openInitialized(server.url);
    await until(() => rig.lines.length === 3);
    expect(rig.lines.slice(1)).toEqual([JSON.stringify(note('one')), JSON.stringify(note('two'))]);
    expect(rig.streams.slice(1)).toEqual([undefined, undefined]);
    const gets = server.seen.filter((seen) => seen.method === 'GET');
    expect(gets[0]!.headers.accept).toBe('text/event-stream');
    expect(gets[1]!.headers['last-event-id']).toBe('e1');
    expect(gets[1]!.headers['mcp-session-id']).toBe('session-1');
  });

  test.each([404, 405, 400, 501])('a server that has none (HTTP %i) is asked once', async (status) => {
    const server = await serve(
      sessionful((seen, response) => {
        if (seen.method === 'GET') response.writeHead(status).end();
        else json(response, result(seen.message.id));
      }),
    );
    const rig = await openInitialized(server.url);
    await until(() => server.seen.some((seen) => seen.method === 'GET'));
    rig.write(call(2));
    await rig.answer(2);
    expect(rig.ends).toEqual([]);
    expect(server.seen.filter((seen) => seen.method === 'GET')).toHaveLength(1);
  });

  test('tells that the session is gone when it cannot be opened again', async () => {
    let opened = 0;
    const server = await serve(
      sessionful((_, response) => {
        if (opened++ > 0) response.writeHead(404).end();
        else {
          events(response);
          response.end(`retry: 100\n${data(note('bye'))}`);
        }
      }),
    );
    const rig = await openInitialized(server.url);
    await until(() => rig.ends.length === 1);
    expect(rig.ends).toEqual([{ kind: 'session-lost' }]);
    expect(rig.transport.open).toBe(false);
  });
});

describe('the end', () => {
  test('says goodbye to the session and leaves no connection', async () => {
    const server = await serve(sessionful((_, response) => events(response, data(note('x')))));
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => rig.lines.length === 3);
    await rig.transport.stop();
    const last = server.seen.at(-1)!;
    expect(last.method).toBe('DELETE');
    expect(last.headers['mcp-session-id']).toBe('session-1');
    await until(async () => (await server.connections()) === 0);
    expect(rig.ends).toEqual([]);
    expect(rig.failures).toEqual([]);
    expect(rig.transport.open).toBe(false);
  });

  test('does not wait long for a server that takes no notice', async () => {
    const server = await serve((seen, response, request) => {
      if (seen.method !== 'DELETE')
        withoutStream((_, each) => json(each, result(seen.message.id)))(seen, response, request);
    });
    const rig = await openInitialized(server.url);
    await rig.transport.stop();
    await until(async () => (await server.connections()) === 0);
  });

  test('a server without sessions is told nothing', async () => {
    const server = await serve((seen, response) => json(response, result(seen.message.id)));
    const rig = open(server.url);
    rig.write(initialize);
    await rig.answer(1);
    await Promise.all([rig.transport.stop(), rig.transport.stop()]);
    expect(server.seen).toHaveLength(1);
  });
});
