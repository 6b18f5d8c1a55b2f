import { describe, expect, test } from 'vitest';
import { commandText, shownCommand } from './command-line.ts';

const show = (args: string[], env: Record<string, string> = {}, own: Record<string, string> = {}) =>
  shownCommand({ command: 'run', args, env: own }, env).args;

describe('no secret is shown', () => {
  test('a value that came from the environment is its name again, wherever it stands', () => {
    expect(show(['--x=s3cr3t-value', 'https://h/s3cr3t-value/y'], { THING: 's3cr3t-value' })).toEqual([
      '--x=${THING}',
      'https://h/${THING}/y',
    ]);
    expect(show(['own-value-1'], {}, { MINE: 'own-value-1' })).toEqual(['${MINE}']);
  });

  test('a short one too, where the name says that it is secret', () => {
    expect(show(['pin9', 'info'], { PIN_TOKEN: 'pin9', LEVEL: 'info' })).toEqual(['${PIN_TOKEN}', 'info']);
  });

  test('a longer value is found before a part of it', () => {
    expect(show(['abcdef-ghijkl'], { PART: 'abcdef', WHOLE: 'abcdef-ghijkl' })).toEqual(['${WHOLE}']);
  });

  test('a path that exists is none', () => {
    expect(show([import.meta.dirname], { HERE: import.meta.dirname })).toEqual([import.meta.dirname]);
  });

  test.each([
    [
      ['--token', 'abc'],
      ['--token', '***'],
    ],
    [['--api-key=abc'], ['--api-key=***']],
    [
      ['--github-token', 'abc', 'next'],
      ['--github-token', '***', 'next'],
    ],
    [
      ['-e', 'MY_SECRET=abc'],
      ['-e', 'MY_SECRET=***'],
    ],
    [['postgres://me:pass@host/db'], ['postgres://me:***@host/db']],
    [['https://h/?api_key=abc&x=1'], ['https://h/?api_key=***&x=1']],
    [
      ['--header', 'Authorization: Bearer abc'],
      ['--header', 'Authorization: Bearer ***'],
    ],
    [
      ['--token', '--verbose'],
      ['--token', '--verbose'],
    ],
    [
      ['--author', 'me', 'monkey=1'],
      ['--author', 'me', 'monkey=1'],
    ],
  ])('%j', (args, expected) => {
    expect(show(args)).toEqual(expected);
  });
});

test('the line is quoted as a shell needs it, and safe to print', () => {
  expect(commandText({ command: 'node', args: ['a b', "it's", '\x1b[31m', 'plain-1.js'] })).toBe(
    `node 'a b' 'it'\\''s' '\\x1b[31m' plain-1.js`,
  );
});
