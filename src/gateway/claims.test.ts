import { expect, test } from 'vitest';
import { Claims } from './claims.ts';

test('a name that was seen is free for its owner only, for good', () => {
  const claims = new Claims();
  expect(claims.allows('look', 'B')).toBe(true);
  claims.note([['look', 'A']]);
  claims.note([['look', 'B']]);
  expect(claims.allows('look', 'A')).toBe(true);
  expect(claims.allows('look', 'B')).toBe(false);
});

test('it does not grow without end', () => {
  const claims = new Claims();
  claims.note(Array.from({ length: 60_000 }, (_, n) => [`name ${n}`, 'A'] as const));
  expect(claims.allows('name 0', 'B')).toBe(true);
  expect(claims.allows('name 59999', 'B')).toBe(false);
});
