import { expect, it } from 'vitest';
import { Waiters } from './waiters.ts';

it('goes on when it happens, for all that wait', async () => {
  const waiters = new Waiters();
  const all = Promise.all([waiters.wait(60_000), waiters.wait()]);
  expect(waiters.none).toBe(false);
  waiters.tell();
  expect(waiters.none).toBe(true);
  await all;
});

it('goes on after the time, where it does not happen', async () => {
  await new Waiters().wait(1);
});

it('waits for what happens next, not for what has happened', async () => {
  const waiters = new Waiters();
  waiters.tell();
  let over = false;
  const waited = waiters.wait().then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  waiters.tell();
  await waited;
});
