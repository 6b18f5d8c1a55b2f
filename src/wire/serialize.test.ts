import { expect, test } from 'vitest';
import { editedText, type Edit } from './edit.ts';
import { ENVELOPE, Envelope } from './envelope.ts';
import { Message, readMessage } from './message.ts';
import { serialize } from './serialize.ts';
import { defineShape } from './shape.ts';

const SHAPE = defineShape({ ...ENVELOPE });

const textOf = (message: Message, edits: Edit[], id?: number | Message): string => {
  const { pieces, length } = serialize(message, edits, id);
  const bytes = Buffer.concat(pieces);
  expect(length).toBe(bytes.length);
  return bytes.toString();
};

const at = (message: Message, slot: number) => ({ start: message.start(slot), end: message.end(slot) });

test('a message without edits is sent as it came', () => {
  const text =
    '{"jsonrpc":"2.0", "id":1,"method":"m","params":{"n":12345678901234567890,"x":1.0,"u":"\\u00e4ä"}}';
  expect(textOf(Message.fromText(text, SHAPE), [])).toBe(text);
});

test('edits and the id are replaced wherever they are', () => {
  const request = Message.fromText('{"id":"ü-9","method":"m"}', SHAPE);
  for (const text of ['{"id":1,"result":{"a":1},"method":"m"}', '{"method":"m","result":{"a":1},"id":1}']) {
    const message = Message.fromText(text, SHAPE);
    const excerpt = { of: request.bytes, start: request.start(Envelope.id), end: request.end(Envelope.id) };
    const edits: Edit[] = [
      { ...at(message, Envelope.result), with: '{"b":"€"}' },
      { ...at(message, Envelope.method), with: excerpt },
    ].sort((one, other) => one.start - other.start);
    const edited = editedText(message, edits);
    expect(textOf(message, edits)).toBe(edited);
    expect(textOf(message, edits, 77)).toBe(edited.replace('"id":1', '"id":77'));
    expect(textOf(message, edits, request)).toBe(edited.replace('"id":1', '"id":"ü-9"'));
  }
});

test('inserted text stays on one line', () => {
  const message = Message.fromText('{"id":1,"params":{}}', SHAPE);
  const edits = [{ ...at(message, Envelope.params), with: '{"a":\r\n{"b":"c\\nd"}\n}' }];
  expect(textOf(message, edits, 2)).toBe('{"id":2,"params":{"a":  {"b":"c\\nd"} }}');
});

test('large parts are not copied, and small ones are joined', () => {
  const large = Buffer.from('x'.repeat(100_000));
  const chunks = [
    Buffer.from('{"id":1,'),
    Buffer.from('"params":"'),
    large,
    Buffer.from('"'),
    Buffer.from('}'),
  ];
  const to = chunks.reduce((sum, { length }) => sum + length, 0);
  const message = readMessage({ chunks, from: 0, to }, SHAPE, 'newline') as Message;
  const { pieces, length } = serialize(message, [], 12);
  expect(pieces).toHaveLength(3);
  expect(pieces[1]!.buffer === large.buffer && pieces[1]!.byteOffset === large.byteOffset).toBe(true);
  expect(Buffer.concat(pieces).toString()).toBe(`{"id":12,"params":"${'x'.repeat(100_000)}"}`);
  expect(length).toBe(to + 1);
});
