import { expect, test } from 'vitest';
import { interpolate } from './interpolate.ts';

const env = { NAME: 'value', EMPTY: '', REFERS: '${NAME}', A_1: 'one' };

test.each([
  ['plain', 'plain'],
  ['${NAME}', 'value'],
  ['a ${NAME} b ${env:A_1} c', 'a value b one c'],
  ['${NAME}${NAME}', 'valuevalue'],
  ['${MISSING:-default}', 'default'],
  ['${env:MISSING:-default}', 'default'],
  ['${EMPTY:-default}', 'default'],
  ['${NAME:-default}', 'value'],
  ['${MISSING:-}', ''],
  ['${EMPTY}', ''],
  ['${MISSING:-${NAME}/x}', 'value/x'],
  ['${MISSING:-${GONE:-deep}}!', 'deep!'],
  ['${REFERS}', '${NAME}'],
  ['$${NAME}', '${NAME}'],
  ['$$${NAME}', '$${NAME}'],
  ['$NAME $', '$NAME $'],
  ['${', '${'],
  ['${NAME', '${NAME'],
  ['${MISSING:-x', '${MISSING:-x'],
  ['${x%y} ${#a} ${1}', '${x%y} ${#a} ${1}'],
  ['{"a": {}}', '{"a": {}}'],
])('%j becomes %j', (text, expected) => {
  expect(interpolate(text, env)).toEqual({ kind: 'text', text: expected });
});

test('variables that are not set are named, inherited members of objects do not count', () => {
  expect(interpolate('${ONE} ${NAME} ${env:TWO}', env)).toEqual({ kind: 'unset', names: ['ONE', 'TWO'] });
  expect(interpolate('${MISSING:-${ONE}}', env)).toEqual({ kind: 'unset', names: ['ONE'] });
  expect(interpolate('${constructor}', env)).toEqual({ kind: 'unset', names: ['constructor'] });
  expect(interpolate('${__proto__}', env)).toEqual({ kind: 'unset', names: ['__proto__'] });
});

test('a reference of another host is recognised, its content not repeated', () => {
  expect(interpolate('x ${input:token}', env)).toEqual({ kind: 'unknown', reference: '${input:…}' });
});
