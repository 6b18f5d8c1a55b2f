import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inLaterTurn, Turns } from './turns.ts';

test('callbacks run in order, one in each turn of the event loop', async () => {
  const ran: number[] = [];
  for (const each of [1, 2, 3]) inLaterTurn(() => ran.push(each));
  await turn();
  expect(ran).toEqual([]);
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await turn();
    expect(ran).toEqual(expected);
  }
});

test('long work lets others go first once its time is up', async () => {
  const turns = new Turns();
  let others = 0;
  setImmediate(() => others++);
  let next = turns.next();
  while (next === undefined) next = turns.next();
  await next;
  expect(others).toBe(1);
});
