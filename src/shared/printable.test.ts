import { expect, test } from 'vitest';
import { plain, plainLine, printable, quoted } from './printable.ts';

test('codes that colour a terminal are removed from what a server wrote', () => {
  expect(plain('\u001b[1;31mError:\u001b[0m no token')).toBe('Error: no token');
  expect(plain('\u001b[38;2;1;2;3mred\u001b[39m \u001b[2K\u001b[1Gagain')).toBe('red again');
  expect(plain('\u009b31mred')).toBe('red');
  expect(plain('\u001b]0;title\u0007a\u001b]8;;https://x.test\u001b\\link\u001b]8;;\u001b\\ \u001b(Bb')).toBe(
    'alink b',
  );
});

test('what is no complete code stays visible', () => {
  expect(plain('a\u001b[31')).toBe('a\\x1b[31');
  expect(plain('a\u001b]0;never ends')).toBe('a\\x1b]0;never ends');
  expect(plain('a\u001bb\u0007')).toBe('a\\x1bb\\x07');
});

test('what somebody has to judge is shown in full', () => {
  expect(printable('rm\u001b[2K -rf')).toBe('rm\\x1b[2K -rf');
});

test('one line stays one line', () => {
  expect(plainLine('a\n\tb')).toBe('a\\n\\tb');
});

test('a quotation is one line, ends where ours goes on, and is cut', () => {
  expect(quoted('  It said "no".\n\u001b[31mReally\u001b[0m ')).toBe(`"It said 'no'. Really"`);
  expect(quoted('abcdef', 3)).toBe('"abc…"');
});
