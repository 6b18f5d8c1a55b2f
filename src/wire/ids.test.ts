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

test.each([
  ['7', ['7.0', '7e0', '70E-1', '0.7e1', '7.000000000000000000000', '7e+00']],
  ['0', ['-0', '0.0', '-0e5', '0E-99999999999999999999']],
  ['-5', ['-5.0', '-50e-1']],
  ['100', ['1e2', '100.0', '0.001e5']],
  ['2.5', ['2.50', '25e-1', '0.25e1']],
  ['1e999999999999', ['10e999999999998']],
  ['9007199254740993', ['9007199254740993.0', '9007199254740.993e3']],
])('the number %s is one id, however it is written', (id, spellings) => {
  for (const spelling of spellings) expect(idKey(spelling)).toBe(idKey(id));
});

test('different numbers are different ids, however large', () => {
  const ids = [
    '7',
    '-7',
    '70',
    '0.7',
    '7.01',
    '9007199254740992',
    '9007199254740993',
    '1e400',
    '1e401',
    '"7"',
  ];
  expect(new Set(ids.map(idKey)).size).toBe(ids.length);
});

test('an id has one key however it is written, and a string is no number', () => {
  expect(idKey('"\\u0061\\/b"')).toBe(idKey('"a/b"'));
  expect(idKey('"1"')).not.toBe(idKey('1'));
});
