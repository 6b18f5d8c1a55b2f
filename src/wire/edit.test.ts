import { expect, test } from 'vitest';
import { addEdit, editedString, editedText, growth, type Edit } from './edit.ts';
import { ENVELOPE, Envelope } from './envelope.ts';
import { Message } from './message.ts';
import { defineShape } from './shape.ts';

const SHAPE = defineShape({ ...ENVELOPE });

test('edits are done in place, in order, from text or from another message', () => {
  const message = Message.from({ jsonrpc: '2.0', id: 'ü', method: 'm', result: { a: 1 } }, SHAPE);
  const other = Message.from({ jsonrpc: '2.0', id: 77 }, SHAPE);
  const at = (slot: number) => ({ start: message.start(slot), end: message.end(slot) });
  const edits: Edit[] = [];
  addEdit(edits, { ...at(Envelope.result), with: '{"b":"€"}' });
  addEdit(edits, {
    ...at(Envelope.id),
    with: { of: other.bytes, start: other.start(Envelope.id), end: other.end(Envelope.id) },
  });
  addEdit(edits, { ...at(Envelope.method), with: '"other"' });
  const text = '{"jsonrpc":"2.0","id":77,"method":"other","result":{"b":"€"}}';
  expect(editedText(message, edits)).toBe(text);
  expect(message.length + growth(edits)).toBe(Buffer.byteLength(text));
});

test('a string member is read as it will be sent', () => {
  const message = Message.fromText('{"id":1,"method":"m\\u00e4","params":{}}', SHAPE);
  const at = (slot: number) => ({ start: message.start(slot), end: message.end(slot) });
  const { method, params, result } = Envelope;
  expect(editedString(message, method, [])).toBe('mä');
  expect(editedString(message, method, [{ ...at(method), with: '"other"' }])).toBe('other');
  expect(editedString(message, method, [{ ...at(method), with: '7' }])).toBeUndefined();
  const { end } = at(method);
  expect(editedString(message, method, [{ start: end, end, with: ',"more":"text"' }])).toBe('mä');
  expect(editedString(message, params, [])).toBeUndefined();
  expect(editedString(message, result, [])).toBeUndefined();
});
