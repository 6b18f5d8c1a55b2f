import fc from 'fast-check';
import { expect, test } from 'vitest';
import { trackActivity, type ConnectionActivity } from './connection-activity.ts';

/** A request and its response as bytes. */
interface Exchange {
  readonly request: Buffer;
  readonly answer: Buffer;
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

/** A body with everything in it that could be mistaken for a head. */
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom('\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', '0\r\n\r\n').map(text),
);

/** In chunks of any size, with extensions and trailers. */
const chunked = fc
  .tuple(body, fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1 }), fc.boolean())
  .map(([bytes, sizes, more]) => {
    const parts: Buffer[] = [];
    for (let at = 0, n = 0; at < bytes.length; n++) {
      const part = bytes.subarray(at, at + sizes[n % sizes.length]!);
      at += part.length;
      parts.push(text(`${part.length.toString(16)}${more ? ';name="va\tlue"' : ''}\r\n`), part, text('\r\n'));
    }
    return Buffer.concat([...parts, text(`0\r\n${more ? 'X-Sum: 1\r\nX-More: 2\r\n' : ''}\r\n`)]);
  });

const framed = fc.oneof(
  body.map((bytes) => ({ head: `Content-Length: ${bytes.length}\r\n`, bytes })),
  chunked.map((bytes) => ({ head: 'transfer-encoding: gzip, Chunked\r\n', bytes })),
  chunked.map((bytes) => ({ head: 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', bytes })),
);
const interim = fc.constantFrom(
  '',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n',
);

const exchange: fc.Arbitrary<Exchange> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PROPFIND'),
    asked: fc.option(framed, { nil: { head: '', bytes: Buffer.alloc(0) } }),
    interim,
    status: fc.constantFrom(200, 204, 304, 404, 500),
    answered: framed,
    blank: fc.constantFrom('', '\r\n'),
  })
  .map(({ method, asked, interim: first, status, answered, blank }) => {
    const bare = method === 'HEAD' || status === 204 || status === 304;
    return {
      request: Buffer.concat([
        text(`${blank}${method} /a?b HTTP/1.1\r\nHost: x\r\n${asked.head}\r\n`),
        asked.bytes,
      ]),
      answer: Buffer.concat([
        text(`${first}HTTP/1.1 ${status} Fine\r\n${answered.head}Connection: keep-alive\r\n\r\n`),
        bare ? Buffer.alloc(0) : answered.bytes,
      ]),
    };
  });

/** Reads the bytes in pieces of these sizes and returns the state after each. */
function feed(
  take: (chunk: Buffer) => void,
  activity: ConnectionActivity,
  bytes: Buffer,
  sizes: readonly number[],
): string[] {
  const seen: string[] = [];
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const chunk = bytes.subarray(at, at + sizes[n % sizes.length]!);
    at += chunk.length;
    take(chunk);
    seen.push(activity.state());
  }
  return seen;
}

const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 12 });

test('one request after the other: busy until the last byte of each response, however it is split', () => {
  fc.assert(
    fc.property(fc.array(exchange, { minLength: 1, maxLength: 4 }), sizes, (exchanges, cut) => {
      const activity = trackActivity();
      for (const { request, answer } of exchanges) {
        expect(activity.state()).toBe('idle');
        feed(activity.onRequestData, activity, request, cut);
        const seen = feed(activity.onResponseData, activity, answer, cut);
        expect(seen.pop()).toBe('idle');
        expect(new Set(seen)).toEqual(seen.length === 0 ? new Set() : new Set(['busy']));
      }
    }),
  );
});

test('pipelined requests: busy until the last byte of the last response', () => {
  fc.assert(
    fc.property(fc.array(exchange, { minLength: 2, maxLength: 5 }), sizes, (exchanges, cut) => {
      const activity = trackActivity();
      const requests = Buffer.concat(exchanges.map(({ request }) => request));
      const answers = Buffer.concat(exchanges.map(({ answer }) => answer));
      feed(activity.onRequestData, activity, requests, cut);
      const seen = feed(activity.onResponseData, activity, answers, cut);
      expect(seen.pop()).toBe('idle');
      expect(new Set(seen)).toEqual(seen.length === 0 ? new Set() : new Set(['busy']));
    }),
  );
});

test('it never throws, whatever the bytes', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((each) => Buffer.from(each)),
    fc.string({ maxLength: 200 }).map(text),
    exchange.map(({ request }) => request),
    exchange.map(({ answer }) => answer),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), bytes), { maxLength: 12 }), (steps) => {
      const activity = trackActivity();
      for (const [mine, chunk] of steps) {
        (mine ? activity.onRequestData : activity.onResponseData)(chunk);
        expect(['idle', 'busy', 'stream']).toContain(activity.state());
      }
    }),
  );
});

/** The state after each step; `>` is from the client, `<` from the service. */
function states(...steps: readonly string[]): string[] {
  let at = 0;
  const activity = trackActivity(() => at);
  return steps.map((step) => {
    if (step === 'wait') at += 1000;
    else (step.startsWith('>') ? activity.onRequestData : activity.onResponseData)(text(step.slice(1)));
    return activity.state();
  });
}

const GET = '>GET / HTTP/1.1\r\nHost: x\r\n\r\n';

test.each<[string, string[], string[]]>([
  ['a connection that nobody has used', ['wait'], ['idle']],
  ['half a request', ['>GET / HT'], ['busy']],
  [
    'an answer until the end of the connection',
    [GET, '<HTTP/1.0 200 OK\r\n\r\nabc', 'wait'],
    ['busy', 'busy', 'busy'],
  ],
  [
    'an answer before the request is complete',
    ['>PUT / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc', '<HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n'],
    ['busy', 'idle'],
  ],
  ['lines that end in LF only', [GET, '<HTTP/1.1 200 OK\nContent-Length: 1\n\na'], ['busy', 'idle']],
  [
    'a WebSocket',
    [GET, '<HTTP/1.1 101 Yes\r\nUpgrade: WebSocket\r\n\r\n', '>\x81\x80', '<\x81\x00'],
    ['busy', 'stream', 'stream', 'stream'],
  ],
  [
    'a WebSocket that is declined',
    [GET, '<HTTP/1.1 426 No\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n'],
    ['busy', 'idle'],
  ],
  [
    'HTTP/2 after an upgrade',
    [GET, '<HTTP/1.1 101 Yes\r\nUpgrade: h2c\r\n\r\n', 'wait', '>x', 'wait', '<x', 'wait'],
    ['busy', 'busy', 'idle', 'busy', 'busy', 'busy', 'idle'],
  ],
  [
    'events for EventSource',
    [GET, '<HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['busy', 'stream'],
  ],
  [
    'events as the answer to a POST',
    [
      '>POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n',
      '<HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
      '<0\r\n\r\n',
    ],
    ['busy', 'busy', 'idle'],
  ],
  [
    'a tunnel',
    ['>CONNECT x:1 HTTP/1.1\r\n\r\n', '<HTTP/1.1 200 OK\r\n\r\n', 'wait', '>x'],
    ['busy', 'busy', 'idle', 'busy'],
  ],
  [
    'a service that speaks first',
    ['<220 mail\r\n', 'wait', '>HELO\r\n', 'wait'],
    ['busy', 'idle', 'busy', 'busy'],
  ],
  ['Postgres', ['>\0\0\0\x08\x04\xd2\x16\x2f', '<N', 'wait'], ['busy', 'busy', 'idle']],
  ['Redis', ['>*1\r\n$4\r\nPING\r\n', '<+PONG\r\n', 'wait'], ['busy', 'busy', 'idle']],
  ['Redis by hand', ['>PING\r\n', '<+PONG\r\n', 'wait'], ['busy', 'busy', 'idle']],
  [
    'HTTP/2 from the start',
    ['>PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '<\0\0\0\x04', 'wait'],
    ['busy', 'busy', 'idle'],
  ],
  ['TLS', ['>\x16\x03\x01\x02\n\x01', '<\x16\x03\x03', 'wait'], ['busy', 'busy', 'idle']],
  [
    'a head without an end',
    [`>GET / HTTP/1.1\r\nX: ${'y'.repeat(70_000)}`, '<no', 'wait'],
    ['busy', 'busy', 'idle'],
  ],
])('%s', (_, steps, expected) => {
  expect(states(...steps)).toEqual(expected);
});

test('a large body costs no more than counting it', () => {
  const activity = trackActivity();
  activity.onRequestData(text(GET.slice(1)));
  activity.onResponseData(text(`HTTP/1.1 200 OK\r\nContent-Length: ${10 * 2 ** 30}\r\n\r\n`));
  const chunk = Buffer.alloc(64 * 1024, '\n');
  const began = performance.now();
  for (let n = 0; n < (10 * 2 ** 30) / chunk.length; n++) activity.onResponseData(chunk);
  expect(activity.state()).toBe('idle');
  // Reading them would take seconds.
  expect(performance.now() - began).toBeLessThan(1000);
});
