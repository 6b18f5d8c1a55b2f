import { expect, test } from 'vitest';
import { ENVELOPE } from './envelope.ts';
import { hasUsableId, idKey, isUsableId } from './ids.ts';
import { Message } from './message.ts';
import { defineShape } from './shape.ts';

const SHAPE = defineShape(ENVELOPE);

test.each([
  ['"x"', true],
  ['""', true],
  ['0', true],
  ['-1.5e3', true],
  [`"${'x'.repeat(1022)}"`, true],
  [`"${'x'.repeat(1023)}"`, false],
  ['null', false],
  ['true', false],
  ['{}', false],
  ['["x"]', false],
])('the id %.20s is usable: %s', (id, usable) => {
  expect(isUsableId(id)).toBe(usable);
  const message = Message.fromText(`{"jsonrpc":"2.0","id":${id},"method":"x"}`, SHAPE);
  expect(hasUsableId(message)).toBe(usable);
});

test('an id has one key however it is written, and a string is no number', () => {
  expect(idKey('"\\u0061\\/b"')).toBe(idKey('"a/b"'));
  expect(idKey('"1"')).not.toBe(idKey('1'));
});
