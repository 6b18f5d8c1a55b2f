import { expect, test } from 'vitest';
import { NameReservations } from './name-reservations.ts';

test('a name that was seen is free for its owner only, for good', () => {
  const reservations = new NameReservations();
  expect(reservations.allows('look', 'B')).toBe(true);
  reservations.reserve([['look', 'A']]);
  reservations.reserve([['look', 'B']]);
  expect(reservations.allows('look', 'A')).toBe(true);
  expect(reservations.allows('look', 'B')).toBe(false);
});

test('it does not grow without end', () => {
  const reservations = new NameReservations();
  reservations.reserve(Array.from({ length: 60_000 }, (_, n) => [`name ${n}`, 'A'] as const));
  expect(reservations.allows('name 0', 'B')).toBe(true);
  expect(reservations.allows('name 59999', 'B')).toBe(false);
});
