import { describe, expect, test } from 'vitest';
import { commandText, redactCommand } from './redact-command.ts';
import { cheapestMs } from '../../test/helpers/cheapest.ts';

const show = (args: string[]) => redactCommand({ written: { command: 'run', args, cwd: '.' } }).args;

describe('no secret is shown', () => {
  test('a reference to the environment stays one', () => {
    const args = ['--x=${THING}', '--token', '${TOKEN}', 'postgres://me:${PASSWORD}@host/db'];
    expect(show(args)).toEqual(args);
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

// Quoting on Windows is tested with shellWord.
test.skipIf(process.platform === 'win32')('the line is quoted as a shell needs it, and safe to print', () => {
  expect(commandText({ command: 'node', args: ['a b', "it's", '\x1b[31m', 'plain-1.js'] })).toBe(
    `node 'a b' 'it'\\''s' '\\x1b[31m' plain-1.js`,
  );
});

test('of a server elsewhere, its address is shown', () => {
  const shown = redactCommand({ written: { url: 'https://x.test/${A}\u001b' } });
  expect(shown).toEqual({ command: '', args: [], url: 'https://x.test/${A}\u001b' });
  expect(commandText(shown)).toMatch(/^https:\/\/x\.test\/\$\{A\}/);
  expect(commandText(shown)).not.toContain('\u001b');
});

test('a hostile argument of 256 KiB is shown in time', () => {
  expect(
    cheapestMs(500, () => {
      show(['a-'.repeat(128 * 1024)]);
    }),
  ).toBeLessThan(500);
});

test('the value of a flag is hidden whole, whatever is in it', () => {
  const args = ['--api-key=a b & c\nd', '--token=${A}${B}', '--token=x${A}', '--token', 'a b'];
  expect(redactCommand({ written: { command: 'x', args, cwd: '' } }).args).toEqual([
    '--api-key=***',
    '--token=${A}${B}',
    '--token=***',
    '--token',
    '***',
  ]);
});
