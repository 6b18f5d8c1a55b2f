import { expect, test } from 'vitest';
import { addEdit, editedText, growth, type Edit } from './edit.ts';
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
