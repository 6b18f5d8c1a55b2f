import { expect, test } from 'vitest';
import { visible } from './visible.ts';

test('our own colors stay, and everything else of a stranger is shown', () => {
  const green = (text: string): string => `\x1b[32m${text}\x1b[39m`;
  expect(visible(`${green('ok')}\n\tnext`)).toBe(`${green('ok')}\n\tnext`);
  expect(visible(green('git\u200bhub \x1b[2J\u202e'))).toBe(green('git\\u{200b}hub \\x1b[2J\\u{202e}'));
  expect(visible('a\x1b]0;title\x07\r')).toBe('a\\x1b]0;title\\x07\\x0d');
});
