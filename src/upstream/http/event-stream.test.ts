import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventStreamParser } from './event-stream.ts';

function read(chunks: readonly (string | Buffer)[], limit = 1 << 20) {
  const events: [string, string][] = [];
  const oversize: { head: string; tail: string }[] = [];
  const stream = new EventStreamParser(limit, {
    event: (type, data) => events.push([type, Buffer.concat(data).toString()]),
    oversize: (head, tail) => oversize.push({ head: head.toString(), tail: tail.toString() }),
    waste: () => undefined,
  });
  for (const chunk of chunks) stream.push(Buffer.from(chunk as string));
  return {
    events,
    oversize,
    lastEventId: stream.lastEventId,
    retryMs: stream.retryMs,
    count: stream.count,
  };
}

describe('event stream', () => {
  test('data, type, id and retry of an event', () => {
    expect(read(['event: endpoint\nid: 7\nretry: 250\ndata: /here\n\n'])).toEqual({
      events: [['endpoint', '/here']],
      oversize: [],
      lastEventId: '7',
      retryMs: 250,
      count: 1,
    });
  });

  test('lines end in CR, LF or CRLF, and a byte order mark at the beginning is nothing', () => {
    const text = '\ufeffdata: a\r\n\r\ndata: b\r\rdata: c\n\ndata:d\r\n\n';
    const { events } = read([text]);
    expect(events.map(([, data]) => data)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('data on several lines is joined by line feeds, and one space in front of it is dropped', () => {
    expect(read(['data: {\ndata:  "a":1\ndata\ndata:}\n\n']).events).toEqual([['message', '{\n "a":1\n\n}']]);
  });

  test('comments and unknown fields are passed over', () => {
    expect(read([': keep-alive\n\n:\nfoo: bar\ndata: x\nfoo\n\n']).events).toEqual([['message', 'x']]);
  });

  test('an event without data is none, but its id counts', () => {
    const { events, lastEventId } = read(['id: 1\ndata:\n\nid: 2\n\n']);
    expect(events).toEqual([]);
    expect(lastEventId).toBe('2');
  });

  test('the id of an event that was cut off does not count', () => {
    expect(read(['id: 1\ndata: a\n\nid: 2\ndata: b\n'])).toMatchObject({
      events: [['message', 'a']],
      lastEventId: '1',
    });
  });

  test('an id that fits no header is none', () => {
    expect(read(['id: a\u0000b\ndata: x\n\n']).lastEventId).toBeUndefined();
    expect(read(['id: \u4e2d\ndata: x\n\n']).lastEventId).toBeUndefined();
  });

  test('an event over the limit is told with its ends, and the next one is delivered', () => {
    const long = `{"id":3,"x":"${'y'.repeat(20_000)}","z":1}`;
    for (const text of [`data: ${long}\n\n`, `data: {"id":3,\ndata: ${long.slice(8)}\n\n`]) {
      const { events, oversize } = read([...Array.from(text), 'data: next\n\n'], 10_000);
      expect(oversize).toHaveLength(1);
      expect(oversize[0]!.head).toMatch(/^\{"id":3,\s*"x":"yy/);
      expect(oversize[0]!.tail).toMatch(/yy","z":1\}$/);
      expect(events).toEqual([['message', 'next']]);
    }
  });

  test('a comment over the limit harms nothing', () => {
    const { events, oversize } = read([`: ${'c'.repeat(50_000)}\ndata: x\n\n`], 10_000);
    expect(oversize).toEqual([]);
    expect(events).toEqual([['message', 'x']]);
  });

  test('the events do not depend on how the bytes are cut', () => {
    const line = fc.oneof(
      fc.constantFrom('data: {"a":1}', 'data:', 'data', ': c', 'id: 5', 'event: ping', 'retry: 9', '', ''),
      fc.string({ maxLength: 40 }).map((text) => `data: ${text}`),
      fc.string({ maxLength: 10 }),
    );
    const stream = fc
      .tuple(fc.boolean(), fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 40 }))
      .map(([mark, lines]) => Buffer.from((mark ? '\ufeff' : '') + lines.flat().join('')));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 30 }), fc.boolean(), (bytes, cuts, single) => {
        const places = single
          ? [...bytes.keys()]
          : [0, ...cuts.map((cut) => (bytes.length === 0 ? 0 : cut % bytes.length))].sort((a, b) => a - b);
        const chunks = places.map((place, index) => bytes.subarray(place, places[index + 1] ?? bytes.length));
        expect(read(chunks, 60)).toEqual(read([bytes], 60));
      }),
      { numRuns: 500 },
    );
  });

  test('sixteen megabytes in small chunks are read in linear time', () => {
    const chunk = Buffer.alloc(512, 0x61);
    const chunks = [
      Buffer.from('data: "'),
      ...new Array<Buffer>(32 * 1024).fill(chunk),
      Buffer.from('"\n\n'),
    ];
    const { events } = read(chunks, 17 << 20);
    expect(events[0]![1]).toHaveLength((16 << 20) + 2);
  });
});

describe('waste', () => {
  const wastedBy = (line: string, lines = 100_000): number => {
    let wasted = 0;
    const stream = new EventStreamParser(1 << 20, {
      event: () => undefined,
      oversize: () => undefined,
      waste: (bytes) => (wasted += bytes),
    });
    const bytes = Buffer.from(line.repeat(lines));
    for (let at = 0; at < bytes.length; at += 65_536) stream.push(bytes.subarray(at, at + 65_536));
    return wasted;
  };

  test.each([':\n', '\n', 'id: 1\n\n', 'data:\n', 'data\n', 'retry: 1\n', 'event: x\n\n'])(
    'endless lines %j count for more than their length',
    (line) => expect(wastedBy(line)).toBeGreaterThan(1_000_000),
  );

  test('a line or an event without end counts, too', () => {
    expect(wastedBy('x', 10_000_000)).toBeGreaterThan(0);
    expect(wastedBy(`data: ${'x'.repeat(1000)}\n`, 10_000)).toBeGreaterThan(100_000);
  });

  test('events with data count for nothing, however they are written', () => {
    expect(wastedBy('event: message\nid: 7\ndata: {"jsonrpc":"2.0"}\n\n')).toBe(0);
    expect(wastedBy(': keep-alive\n\ndata: {\ndata: }\n\n')).toBe(0);
  });
});

test('a chunk can be read a few lines at a time', () => {
  const chunk = Buffer.from('data: a\r\n\r\ndata: b\r\rdata: c\n\nda');
  const found: string[] = [];
  const stream = new EventStreamParser(100, {
    event: (_, data) => found.push(Buffer.concat(data).toString()),
    oversize: () => undefined,
    waste: () => undefined,
  });
  for (let at = 0; at < chunk.length;) at = stream.push(chunk, at, 1);
  stream.push(Buffer.from('ta: d\n\n'));
  expect(found).toEqual(['a', 'b', 'c', 'd']);
});
