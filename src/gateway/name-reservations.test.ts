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

test('a name that its owner has provisionally is nobody’s once a source that comes before it has it too', () => {
  const reservations = new NameReservations();
  const before = () => true;
  reservations.reserve([
    ['look', 'B', true],
    ['firm', 'B'],
    ['confirmed', 'B', true],
  ]);
  reservations.confirm('confirmed');
  expect(reservations.allows('look', 'C', () => false)).toBe(false);
  expect(reservations.allows('look', 'B')).toBe(true);
  for (const name of ['look', 'firm', 'confirmed'])
    expect(reservations.allows(name, 'A', before)).toBe(false);
  expect(['look', 'firm', 'confirmed'].map((name) => reservations.allows(name, 'B'))).toEqual([
    false,
    true,
    true,
  ]);
  expect(['look', 'firm'].map((name) => reservations.isNobodys(name))).toEqual([true, false]);
});

test('it does not grow without end', () => {
  const reservations = new NameReservations();
  reservations.reserve(Array.from({ length: 60_000 }, (_, n) => [`name ${n}`, 'A'] as const));
  expect(reservations.allows('name 0', 'B')).toBe(true);
  expect(reservations.allows('name 59999', 'B')).toBe(false);
});
