import { expect, test } from 'vitest';
import { RandomIds } from './random-ids.ts';

test('ids are positive, of 31 bits, and neither count up nor repeat a pattern', () => {
  const random = new RandomIds();
  const ids = Array.from({ length: 5000 }, () => random.next());
  expect(Math.min(...ids)).toBeGreaterThan(0);
  expect(Math.max(...ids)).toBeLessThan(2 ** 31);
  expect(Math.max(...ids)).toBeGreaterThan(2 ** 30);
  expect(new Set(ids).size).toBeGreaterThan(4990);
  const steps = ids.slice(1).map((id, at) => id - ids[at]!);
  expect(new Set(steps).size).toBeGreaterThan(4980);
});

test('the last thousand ids are known, older and foreign ones are not', () => {
  const random = new RandomIds();
  const ids = Array.from({ length: 5000 }, () => {
    const id = random.next();
    expect(random.isRecent(id)).toBe(true);
    return id;
  });
  expect(ids.slice(-1000).every((id) => random.isRecent(id))).toBe(true);
  expect(ids.slice(0, 2000).filter((id) => random.isRecent(id))).toEqual([]);
  expect(random.isRecent(2 ** 31)).toBe(false);
});
