import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf } from './bytes.ts';
import { Deframer, frame, type Framing } from './framing.ts';

interface Seen {
  messages: [string, Framing][];
  oversize: { head: string; tail: string; length: number }[];
  badHeaders: string[];
  overrun: boolean;
}

function read(
  chunks: readonly (string | Buffer)[],
  limits = { messageBytes: 1 << 24, overrunBytes: 1 << 26 },
  settles: 'never' | 'first message' = 'never',
) {
  const seen: Seen = { messages: [], oversize: [], badHeaders: [], overrun: false };
  const deframer = new Deframer(limits, {
    message: (bytes, framing) => {
      const text = textOf(bytes, bytes.from, bytes.to);
      if (settles === 'first message' && text.startsWith('{')) deframer.settle(framing);
      seen.messages.push([text, framing]);
    },
    oversize: (head, tail, length) =>
      seen.oversize.push({ head: head.toString(), tail: tail.toString(), length }),
    badHeader: (header) => seen.badHeaders.push(header),
    overrun: () => {
      seen.overrun = true;
    },
  });
  for (const chunk of chunks) deframer.push(Buffer.from(chunk as string));
  deframer.end();
  return { ...seen, framing: deframer.framing };
}

const framed = (body: string, header = 'Content-Length') =>
  `${header}: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe('newline', () => {
  test('lines, blank lines, CRLF and a last line without its end', () => {
    expect(read(['{"a":1}\n\n  \r\n{"b":2}\r\n{"c":3}']).messages.map(([text]) => text)).toEqual([
      '{"a":1}',
      '{"b":2}',
      '{"c":3}',
    ]);
  });

  test('prose that starts like a header is a line', () => {
    const { messages, framing } = read(['Content with this?\nCo', 'nte', 'nt\n{"a":1}\n']);
    expect(messages.map(([text]) => text)).toEqual(['Content with this?', 'Content', '{"a":1}']);
    expect(framing).toBe('newline');
  });
});

describe('lines that look like headers for a while', () => {
  test('very many of them are very many lines', () => {
    expect(read(['c\n'.repeat(100_000)]).messages).toHaveLength(100_000);
    expect(read(['Content\n'.repeat(10_000)]).messages).toHaveLength(10_000);
  });

  test('a banner that is no header swallows nothing', () => {
    const banner = 'Content-based search: ready\n{"a":1}\n';
    expect(read([banner]).messages.map(([text]) => text)).toEqual(['Content-based search: ready', '{"a":1}']);
    const type = 'Content-Type: ready\n{"a":1}\n';
    expect(read([type]).messages.map(([text]) => text)).toEqual(['{"a":1}']);
    expect(read(Array.from(type)).messages.map(([text]) => text)).toEqual(['{"a":1}']);
  });

  test('a byte order mark before the first message is passed over', () => {
    expect(read(['\ufeff{"a":1}\n']).messages).toEqual([['{"a":1}', 'newline']]);
    expect(read([`\ufeff${framed('{"a":1}')}`]).messages).toEqual([['{"a":1}', 'content-length']]);
  });
});

describe('content-length', () => {
  test('the header in any case, with other headers, is followed by exactly that many bytes', () => {
    const { messages, framing } = read([
      framed('{"ü":1}') + framed('{\n"b":2}', 'content-length') + 'Content-Type: x\r\n' + framed('{}'),
    ]);
    expect(messages).toEqual([
      ['{"ü":1}', 'content-length'],
      ['{\n"b":2}', 'content-length'],
      ['{}', 'content-length'],
    ]);
    expect(framing).toBe('content-length');
  });

  test('a block without Content-Length is reported, and what follows is read', () => {
    const { badHeaders, messages } = read([framed('{}') + 'X-Other: 1\r\n\r\n' + framed('{"a":1}')]);
    expect(badHeaders).toEqual(['X-Other: 1']);
    expect(messages.map(([text]) => text)).toEqual(['{}', '{"a":1}']);
  });

  test('a block that breaks off at its blank line is bad wherever it is cut, and what follows is read', () => {
    const stream = 'Content-Length: 5\r\n\r{"a":1}\n{"b":2}\n';
    for (let cut = 0; cut <= stream.length; cut++) {
      const { messages } = read([stream.slice(0, cut), stream.slice(cut)]);
      expect(
        messages.map(([text]) => text),
        `cut at ${cut}`,
      ).toEqual(['{"a":1}', '{"b":2}']);
    }
  });

  test('a header block without end is given up', () => {
    const { badHeaders, messages } = read([
      framed('{}'),
      `Content-Type: ${'x'.repeat(20_000)}\n`,
      framed('{"a":1}'),
    ]);
    expect(badHeaders).toHaveLength(1);
    expect(messages.map(([text]) => text)).toEqual(['{}', '{"a":1}']);
  });
});

test('both framings, mixed and cut anywhere, give the same messages', () => {
  const message = fc.record({
    body: fc.json(),
    framing: fc.constantFrom<Framing>('newline', 'content-length'),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat({ max: 40 })), (messages, cuts) => {
      // Wrapped in an array, because the deframer may not recognize other JSON texts as lines.
      const wanted = messages.map(({ body, framing }) => [`[${body}]`, framing] as [string, Framing]);
      const stream = Buffer.from(
        wanted
          .map(([body, framing]) => {
            const { before, after } = frame(framing, Buffer.byteLength(body));
            return before + body + after;
          })
          .join(''),
      );
      const chunks: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        chunks.push(stream.subarray(at, at + cut));
        at += cut;
      }
      chunks.push(stream.subarray(at));
      expect(read(chunks).messages).toEqual(wanted);
    }),
    { numRuns: 500 },
  );
});

test('once the framing is known to be lines, a header is a line like any other', () => {
  const messages: string[] = [];
  const deframer = new Deframer(
    { messageBytes: 10_000, overrunBytes: 50_000 },
    {
      message: (bytes) => messages.push(textOf(bytes, bytes.from, bytes.to)),
      oversize: () => messages.push('oversize'),
      badHeader: () => messages.push('bad header'),
      overrun: () => messages.push('overrun'),
    },
  );
  deframer.push(Buffer.from('{"id":1}\n'));
  deframer.settle('newline');
  deframer.push(Buffer.from('Content-Length: 5000\r\n\r\n{"id":2}\nContent-Length: 1\n'));
  deframer.push(Buffer.from('{"id":3}\n'));
  expect(messages).toEqual(['{"id":1}', 'Content-Length: 5000', '{"id":2}', 'Content-Length: 1', '{"id":3}']);
});

describe('a header that no message follows', () => {
  const dump = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000000\r\n\r\n';
  const head = dump.slice(dump.indexOf('Content-Length'));
  const [one, two, three] = ['{"id":1}', '{"id":2,"x":"}\\""}', '{"id":3}'];

  test.each([
    ['lines', `${head}${one}\n${two}\n${three}\n`],
    ['lines that end in CRLF', `${head}${one}\r\n${two}\r\n${three}\r\n`],
    ['lines and a whole head', `${dump}${one}\n${two}\n${dump}${three}\n`],
    ['lines and text', `${head}<html>\n</html>\n${one}\n${head}${two}\nnot found\n${three}\n`],
    ['lines behind blank ones', `${head}\n\n${one}\n${two}\n${three}\n`],
    ['a line that is longer', `Content-Length: 12\r\n\r\n${two}\n${one}\n${three}\n`],
    ['Content-Length', `${head}${framed(one)}${framed(two)}${dump}${framed(three)}`],
    ['Content-Length and text', `${framed(one)}${dump}<html>\n</html>\n${framed(two)}${framed(three)}`],
    ['Content-Length and text without its end', `${framed(one)}${dump}<html>${framed(two)}${framed(three)}`],
    ['Content-Length and a line', `${framed(one)}${dump}${two}\n${framed(three)}`],
  ])('swallows nothing, wherever it is cut: %s', (_, stream) => {
    const usesLines = !stream.includes('Content-Length: 8');
    const chunkings = Array.from({ length: stream.length + 1 }, (__, cut) => [
      stream.slice(0, cut),
      stream.slice(cut),
    ]);
    for (const chunks of [...chunkings, Array.from(stream)]) {
      const { messages, framing } = read(chunks, undefined, 'first message');
      const texts = messages.map(([text]) => text);
      expect(texts.filter((text) => text.startsWith('{')).sort(), JSON.stringify(chunks[0])).toEqual([
        one,
        two,
        three,
      ]);
      expect(framing).toBe(usesLines ? 'newline' : 'content-length');
    }
  });

  test('is reported', () => {
    expect(read([`${head}<html>\n${one}\n`]).badHeaders).toEqual(['Content-Length: 5000000']);
    expect(read([`${head}${one}\n`]).badHeaders).toEqual(['Content-Length: 5000000']);
    expect(read([`Content-Length: 4\r\n\r\n${one}\n`]).badHeaders).toEqual(['Content-Length: 4']);
  });

  test('a message may be printed over several lines and end in some line breaks', () => {
    const pretty = JSON.stringify({ id: 1, text: 'a\nb', list: [{}, []] }, null, 2);
    for (const body of [pretty, `${pretty}\n`, `${one}\n`, `${one}\r\n\r\n`, `\r\n${one}`, `\n${pretty}\n`]) {
      const stream = framed(body) + framed(one);
      for (let cut = 0; cut <= stream.length; cut++)
        expect(read([stream.slice(0, cut), stream.slice(cut)]).messages).toEqual([
          [body, 'content-length'],
          [one, 'content-length'],
        ]);
    }
  });
});

describe('limits', () => {
  const limits = { messageBytes: 10_000, overrunBytes: 50_000 };

  test('a line over the limit is skipped, its ends are kept, the next is read', () => {
    const long = `{"id":1,"x":"${'y'.repeat(20_000)}","end":2}`;
    const { messages, oversize } = read([long.slice(0, 7000), `${long.slice(7000)}\n{"a":1}\n`], limits);
    expect(messages.map(([text]) => text)).toEqual(['{"a":1}']);
    expect(oversize).toHaveLength(1);
    expect(oversize[0]?.length).toBe(long.length);
    expect(oversize[0]?.head.startsWith('{"id":1,')).toBe(true);
    expect(oversize[0]?.tail.endsWith('"end":2}')).toBe(true);
  });

  test('a body over the limit is skipped by its length', () => {
    const { messages, oversize } = read([framed(`["${'x'.repeat(30_000)}"]`) + framed('{}')], limits);
    expect(oversize).toHaveLength(1);
    expect(messages.map(([text]) => text)).toEqual(['{}']);
  });

  test('the limit is for bodies, not for what comes in one chunk with a header', () => {
    const two = framed(`["${'x'.repeat(700)}"]`) + framed(`["${'y'.repeat(700)}"]`);
    expect(read([two], { messageBytes: 1000, overrunBytes: 1000 }).messages).toHaveLength(2);
  });

  test('a message without end breaks the stream', () => {
    const { overrun, messages } = read([...Array<string>(7).fill('x'.repeat(10_000)), '\n{}\n'], limits);
    expect(overrun).toBe(true);
    expect(messages).toEqual([]);
  });

  test('a message in very many pieces is still one message', () => {
    const body = `{"x":"${'y'.repeat(9_000)}"}`;
    expect(read([...Array.from(body), '\n'], limits).messages).toEqual([[body, 'newline']]);
  });
});
