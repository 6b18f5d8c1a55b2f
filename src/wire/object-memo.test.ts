import { expect, test } from 'vitest';
import { ObjectMemo } from './object-memo.ts';

/** An object of a typical length, with its only member at the same place each time. */
const object = (number: number) => Buffer.from(`{"which one of them it is":"${1e9 + number}"}`);
const START = '{"which one of them it is":'.length;

function create() {
  const repeats = new ObjectMemo([3]);
  const find = (bytes: Buffer) => {
    const places = new Array<number>(8).fill(-1);
    return repeats.find(bytes, 0, bytes.length, places) && places;
  };
  return {
    find,
    keep: (bytes: Buffer) => {
      const places = new Array<number>(8).fill(-1);
      places[6] = START;
      places[7] = bytes.length - 1;
      repeats.store(bytes, 0, bytes.length, places);
    },
  };
}

test('what was kept is found again, with what was found in it', () => {
  const { find, keep } = create();
  expect(find(object(1))).toBeUndefined();
  keep(object(1));
  expect(find(object(1))).toEqual([-1, -1, -1, -1, -1, -1, START, object(1).length - 1]);
  expect(find(object(2))).toBeUndefined();
  expect(find(object(1).subarray(0, -1))).toBeUndefined();
});

test('what was kept does not change with the memory it was read from', () => {
  const { find, keep } = create();
  const bytes = object(1);
  keep(bytes);
  bytes.fill(0);
  expect(find(object(1))).toBeDefined();
  expect(find(bytes)).toBeUndefined();
});

test('several are known at one time, as several servers are', () => {
  const { find, keep } = create();
  for (let number = 0; number < 8; number++) keep(object(number));
  for (let number = 0; number < 8; number++) expect(find(object(number))).toBeDefined();
});

test('what comes again stays, however much comes that is new each time, and little of that is kept', () => {
  const { find, keep } = create();
  keep(object(0));
  for (let number = 1; number < 100_000; number++) {
    expect(find(object(0))).toBeDefined();
    keep(object(number));
  }
  let known = 0;
  for (let number = 99_000; number < 100_000; number++) if (find(object(number))) known++;
  expect(known).toBeLessThanOrEqual(1);
});

test('one that is new is kept in the end, after much that was kept for nothing', () => {
  const { find, keep } = create();
  for (let number = 1; number < 100_000; number++) keep(object(number));
  for (let time = 0; time < 1024 && !find(object(0)); time++) keep(object(0));
  expect(find(object(0))).toBeDefined();
});

test('what is very long or very short is not kept', () => {
  const { find, keep } = create();
  const long = Buffer.from(`{"x":"${'y'.repeat(1024)}"}`);
  for (const bytes of [long, Buffer.from('{}')]) {
    keep(bytes);
    expect(find(bytes)).toBeUndefined();
  }
});
