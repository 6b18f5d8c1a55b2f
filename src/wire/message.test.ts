import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromChunks, viewsOf, type Bytes } from './bytes.ts';
import { ENVELOPE } from './envelope.ts';
import type { Message } from './message.ts';
import { idFromFragments, readMessage } from './message.ts';
import { defineShape } from './shape.ts';

const SHAPE = defineShape({ ...ENVELOPE, params: { name: true, arguments: { action: true, args: true } } });

function cut(text: string, sizes: readonly number[]): Bytes {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= bytes.length) break;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  if (at < bytes.length) pieces.push(bytes.subarray(at));
  return fromChunks(pieces);
}

test('members are the same in one piece and in many', () => {
  const value = fc.record({
    id: fc.integer(),
    method: fc.string(),
    params: fc.record({
      name: fc.string(),
      arguments: fc.record({ action: fc.string(), args: fc.jsonValue() }),
    }),
  });
  fc.assert(
    fc.property(value, fc.array(fc.integer({ min: 1, max: 30 })), (message, sizes) => {
      const read = readMessage(cut(JSON.stringify(message), sizes), SHAPE, 'newline') as Message;
      expect(read.value(SHAPE.slot('id'))).toBe(message.id);
      expect(read.string(SHAPE.slot('method'))).toBe(message.method);
      expect(read.string(SHAPE.slot('params.name'))).toBe(message.params.name);
      expect(read.string(SHAPE.slot('params.arguments.action'))).toBe(message.params.arguments.action);
      const args = SHAPE.slot('params.arguments.args');
      expect(read.text(args)).toBe(JSON.stringify(message.params.arguments.args));
      const views = viewsOf(read.bytes, read.start(args), read.end(args));
      expect(Buffer.concat(views).toString()).toBe(JSON.stringify(message.params.arguments.args));
      expect(JSON.parse(read.toString())).toEqual(JSON.parse(JSON.stringify(message)));
    }),
  );
});

test('a required member that is not there, or not a string, is a bug', () => {
  const read = readMessage(cut('{"id":7,"method":"ping"}', []), SHAPE, 'newline') as Message;
  const [id, method, result] = [SHAPE.slot('id'), SHAPE.slot('method'), SHAPE.slot('result')];
  expect([read.requiredText(id), read.requiredString(method)]).toEqual(['7', 'ping']);
  expect(() => read.requiredText(result)).toThrow('lacks the member');
  expect(() => read.requiredString(id)).toThrow('lacks the member');
});

test('a message larger than the scratch memory is read all the same', () => {
  const text = JSON.stringify({ id: 1, result: { x: 'y'.repeat(5_000_000) }, method: 'last' });
  const read = readMessage(cut(text, Array<number>(80).fill(65_536)), SHAPE, 'newline') as Message;
  expect(read.string(SHAPE.slot('method'))).toBe('last');
});

describe('refusals', () => {
  const refused = (text: string, framing: 'newline' | 'content-length' = 'newline') =>
    readMessage(fromChunks([Buffer.from(text)]), SHAPE, framing);

  test('name what is wrong, and the id where it can be told', () => {
    expect(refused('{"id":5,"method":"a","method":"b"}')).toEqual({ why: 'duplicate', id: '5' });
    expect(refused('{"params":{"name":1,"name":2},"id":5}')).toEqual({ why: 'duplicate-param', id: '5' });
    expect(refused('{"id":5,"id":6}')).toEqual({ why: 'duplicate', id: undefined });
    expect(refused(`{"id":"x","params":${'['.repeat(300)}`)).toEqual({ why: 'too-deep', id: '"x"' });
    expect(refused('[]')).toEqual({ why: 'not-an-object', id: undefined });
    expect(refused('{"id":7,"result":{"a":\u0001}}')).toEqual({ why: 'malformed', id: '7' });
    expect(refused('{"id":7,"result":{}} trailing')).toEqual({ why: 'malformed', id: undefined });
  });

  test('line breaks between tokens pass in a framed body, flattened, and nowhere else', () => {
    expect(refused('{"id":1,\r"method":"x"}')).toMatchObject({ why: 'malformed' });
    const read = refused('{\r\n"id":1,\n"method":"a\\nb"}', 'content-length') as Message;
    expect(read.toString()).toBe('{  "id":1, "method":"a\\nb"}');
    expect(read.string(SHAPE.slot('method'))).toBe('a\nb');
  });
});

describe('the id of a message that was not kept', () => {
  const id = (head: string, tail = head) => idFromFragments(Buffer.from(head), Buffer.from(tail));

  test('is read from its beginning or its end', () => {
    expect(id('{"jsonrpc":"2.0","id":12,"result":{"x":"yyyy')).toBe('12');
    expect(id('{"id":"a b","result":{"x":"yyyy')).toBe('"a b"');
    expect(id('{"result":{"x":"yyyy', 'yyyy"}]},"id":12}')).toBe('12');
    expect(id('{"result":{"x":"yyyy', 'yyyy"}]} , "id" : 12 } ')).toBe('12');
  });

  test('is not guessed', () => {
    expect(id('{"result":{"id":3,"x":"yyyy', 'yyyy"}]}')).toBeUndefined();
    expect(id('{"result":{"x":"yyyy', 'yyyy","id":12}}')).toBeUndefined();
    expect(id('{"result":{"x":"yyyy', 'yyy \\"id\\":12}')).toBeUndefined();
    // The number may continue after the cut.
    expect(id('{"id":12', 'yyyy"}')).toBeUndefined();
  });
});

test('a stretch of a larger buffer is read where it lies', () => {
  const before = 'xx';
  const text = '{"id":12,"method":"tools\\u002fcall","params":{"name":"ü"}}';
  const buffer = Buffer.from(`${before}${text}yy`);
  const read = readMessage({ buffer, from: 2, to: buffer.length - 2 }, SHAPE, 'newline') as Message;
  expect(read.integer(SHAPE.slot('id'))).toBe(12);
  expect(read.string(SHAPE.slot('method'))).toBe('tools/call');
  expect(read.string(SHAPE.slot('params.name'))).toBe('ü');
  expect(read.toString()).toBe(text);
});

test.each([
  ['7', 7],
  ['0', 0],
  ['7.0', 7],
  ['7.5', 0],
  ['-7.0', 0],
  ['"7"', 0],
  ['-7', 0],
  ['"7"', 0],
  ['7e0', 7],
  ['123456789012345', 123456789012345],
  ['1234567890123456', 0],
])('the integer of %s is %d', (text, value) => {
  const read = readMessage(fromChunks([Buffer.from(`{"id":${text}}`)]), SHAPE, 'newline') as Message;
  expect(read.integer(SHAPE.slot('id'))).toBe(value);
});

test('a member is compared with how it is written, in one piece and in several', () => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a\\u0062c"}}';
  const shape = defineShape({ ...ENVELOPE, params: { name: true } });
  const slot = shape.slot('params.name');
  for (const cut of [0, 20, 52, 55]) {
    const pieces = [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))];
    const message = readMessage(fromChunks(pieces), shape, 'newline') as Message;
    expect(message.spells(slot, Buffer.from('"a\\u0062c"'))).toBe(true);
    expect(message.spells(slot, Buffer.from('"abc"'))).toBe(false);
    expect(message.spells(slot, Buffer.from('"a\\u0062d"'))).toBe(false);
  }
});

test('the rare members can be found in the same scan, and are the same ones', () => {
  const shape = defineShape(
    { ...ENVELOPE, params: { name: true } },
    { params: { _meta: { version: true }, state: true } },
  );
  const slots = ['params.name', 'params._meta', 'params._meta.version', 'params.state'].map((path) =>
    shape.slot(path),
  );
  for (const params of [
    '{"name":"a","_meta":{"version":"v","other":1},"state":{"a":[1]}}',
    '{"state":null,"_meta":{}}',
    '{"_meta":7}',
    '[]',
    // A repeated rare member counts as absent and is no reason to refuse the message.
    '{"name":"a","state":1,"state":2}',
  ]) {
    const bytes = fromChunks([Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"x","params":${params}}`)]);
    const one = readMessage(bytes, shape, 'newline', true) as Message;
    const two = readMessage(bytes, shape, 'newline') as Message;
    for (const slot of slots) expect(one.text(slot)).toBe(two.text(slot));
  }
  const doubled = fromChunks([
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":1,"name":2}}'),
  ]);
  expect(readMessage(doubled, shape, 'newline', true)).toEqual(readMessage(doubled, shape, 'newline'));
});

test('an object that its sender repeats is told to be the same, where it is', () => {
  const shape = defineShape(
    { ...ENVELOPE, params: { name: true } },
    { params: { _meta: { version: true } } },
    ['params._meta'],
  );
  const read = (meta: string, whole = true) => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","_meta":${meta}}}`;
    return (readMessage(fromChunks([Buffer.from(text)]), shape, 'newline', whole) as Message).memoized;
  };
  const one = '{"version":"2026-07-28"}';
  const other = '{"version":"2026-07-29"}';
  expect([read(one), read(other)]).toEqual([undefined, undefined]);
  expect(read(one)).toBeDefined();
  expect(read(one)).toBe(read(one));
  expect(read(other)).toBe(read(other));
  expect(read(one)).not.toBe(read(other));
  expect(read(one, false)).toBeUndefined();
  expect(read('{"version":"2026-07-28" }')).toBeUndefined();
});
