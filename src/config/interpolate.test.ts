import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../secrets/index.ts';
import { interpolate, interpolationProblem } from './interpolate.ts';

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
  expect(interpolate('${ONE} ${NAME} ${env:TWO}', env)).toEqual({
    kind: 'unset',
    names: ['ONE', 'TWO'],
    secrets: [],
  });
  expect(interpolate('${MISSING:-${ONE}}', env)).toEqual({ kind: 'unset', names: ['ONE'], secrets: [] });
  expect(interpolate('${constructor}', env)).toEqual({ kind: 'unset', names: ['constructor'], secrets: [] });
  expect(interpolate('${__proto__}', env)).toEqual({ kind: 'unset', names: ['__proto__'], secrets: [] });
});

test('a reference of another host is recognised, its content not repeated', () => {
  expect(interpolate('x ${input:token}', env)).toEqual({ kind: 'unknown', reference: '${input:…}' });
});

describe('secrets', () => {
  const odd = 'two\nlines "quoted" \'too\' ${NAME} $${x} \u{1f511}';
  const secrets = new Secrets(
    new Map([
      ['ODD', { kind: 'set', value: odd }],
      ['with.dots-1', { kind: 'set', value: 'v' }],
      ['LOCKED', { kind: 'unreadable', why: 'the keychain is locked' }],
    ]),
  );

  test('an inserted value is never expanded again', () => {
    expect(interpolate('Bearer ${secret:ODD}!', env, secrets)).toEqual({
      kind: 'text',
      text: `Bearer ${odd}!`,
    });
    expect(interpolate('${secret:with.dots-1}$${secret:ODD}', env, secrets)).toEqual({
      kind: 'text',
      text: 'v${secret:ODD}',
    });
  });

  test('a variable of the same name is no secret, nor the other way round', () => {
    expect(interpolate('${secret:NAME}', env, secrets)).toMatchObject({
      kind: 'unset',
      secrets: [{ name: 'NAME' }],
    });
    expect(interpolate('${ODD}', env, secrets)).toMatchObject({ kind: 'unset', names: ['ODD'] });
  });

  test('a default replaces a value that is not set, not one that cannot be read now', () => {
    expect(interpolate('${secret:NONE:-${NAME}}', env, secrets)).toEqual({ kind: 'text', text: 'value' });
    const failed = interpolate('${secret:LOCKED:-x} ${secret:NONE} ${GONE}', env, secrets);
    expect(failed.kind === 'text' ? '' : interpolationProblem(failed)).toBe(
      'the environment variable GONE is not set; the secret NONE is not set; ' +
        'the secret LOCKED cannot be read: the keychain is locked',
    );
  });

  test('no printing of an object shows a value', () => {
    expect(inspect(secrets, { depth: 9, showHidden: true }) + JSON.stringify(secrets)).not.toContain('lines');
  });
});
