import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Arrivals } from './arrivals.ts';

// Only timers are replaced: how long it waits is the behaviour.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function awaited(startedAt?: () => number) {
  let arrive = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const since = performance.now();
  return { done, startedAt: startedAt ?? (() => since), arrive };
}

/** Whether the wait was over after so many milliseconds more. */
async function overAfter(wait: { over: boolean }, ms: number): Promise<boolean> {
  await vi.advanceTimersByTimeAsync(ms);
  return wait.over;
}

function waiting(promise: Promise<void> | undefined): { over: boolean } {
  const wait = { over: promise === undefined };
  void promise?.then(() => {
    wait.over = true;
  });
  return wait;
}

const arrivalsWithin = (ms: number): Arrivals => new Arrivals(() => ms);

test('a list waits for nothing where nothing is missing', () => {
  expect(arrivalsWithin(10_000).settled('tools', [])).toBeUndefined();
});

test('the first list waits for the last server, however long after the others it comes', async () => {
  const arrivals = arrivalsWithin(10_000);
  const [fast, slow] = [awaited(), awaited()];
  const wait = waiting(arrivals.settled('tools', [fast, slow]));
  fast.arrive();
  arrivals.arrived();
  expect(await overAfter(wait, 9000)).toBe(false);
  slow.arrive();
  expect(await overAfter(wait, 0)).toBe(true);
});

test('one that hangs holds up the first list to the limit, and no later one', async () => {
  const arrivals = arrivalsWithin(3000);
  const hanging = awaited();
  const wait = waiting(arrivals.settled('tools', [hanging]));
  expect(await overAfter(wait, 2900)).toBe(false);
  expect(await overAfter(wait, 200)).toBe(true);
  expect(arrivals.settled('tools', [hanging])).toBeUndefined();
  expect(arrivals.settled('tools', [awaited()])).toBeUndefined();
});

test('a list that is asked for while the first one waits is given with it', async () => {
  const arrivals = arrivalsWithin(3000);
  const hanging = awaited();
  const first = waiting(arrivals.settled('tools', [hanging]));
  await vi.advanceTimersByTimeAsync(2000);
  const second = waiting(arrivals.settled('tools', [hanging]));
  expect(await overAfter(second, 900)).toBe(false);
  expect(await overAfter(second, 200)).toBe(true);
  expect(first.over).toBe(true);
});

test('after a first list that had all, later ones do not wait for what is added', () => {
  const arrivals = arrivalsWithin(10_000);
  expect(arrivals.settled('tools', [])).toBeUndefined();
  expect(arrivals.settled('tools', [awaited()])).toBeUndefined();
});

test('each kind of list has a first one', async () => {
  const arrivals = arrivalsWithin(3000);
  void arrivals.settled('tools', []);
  const wait = waiting(arrivals.settled('prompts', [awaited()]));
  expect(await overAfter(wait, 2900)).toBe(false);
  expect(await overAfter(wait, 200)).toBe(true);
});

test('with a limit of 0 not even the first one waits', () => {
  expect(arrivalsWithin(0).settled('tools', [awaited()])).toBeUndefined();
});

test('what is looked for is found when it comes in', async () => {
  const arrivals = arrivalsWithin(10_000);
  let there = false;
  const wait = waiting(arrivals.found([awaited()], () => there));
  arrivals.arrived();
  expect(await overAfter(wait, 500)).toBe(false);
  there = true;
  arrivals.arrived();
  expect(await overAfter(wait, 0)).toBe(true);
});

test('who looks for one thing does not count the time for which its server was kept from starting', async () => {
  const arrivals = arrivalsWithin(10_000);
  let startedAt = Infinity;
  const wait = waiting(arrivals.found([awaited(() => startedAt)], () => false));
  expect(await overAfter(wait, 30_000)).toBe(false);
  startedAt = performance.now();
  expect(await overAfter(wait, 9000)).toBe(false);
  expect(await overAfter(wait, 2000)).toBe(true);
});

test('and is answered before its host gives the call up, however long that takes', async () => {
  const wait = waiting(arrivalsWithin(10_000).found([awaited(() => Infinity)], () => false));
  expect(await overAfter(wait, 49_000)).toBe(false);
  expect(await overAfter(wait, 1000)).toBe(true);
});
