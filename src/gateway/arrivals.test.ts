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
  return { done, since, startedAt: startedAt ?? (() => since), arrive };
}

/** Whether the wait was over after so many milliseconds more. */
async function overAfter(wait: { over: boolean }, ms: number): Promise<boolean> {
  await vi.advanceTimersByTimeAsync(ms);
  return wait.over;
}

function waiting(promise: Promise<void>): { over: boolean } {
  const wait = { over: false };
  void promise.then(() => {
    wait.over = true;
  });
  return wait;
}

test('is over at once when nothing is missing, and when everything has come in', async () => {
  const arrivals = new Arrivals();
  await arrivals.settled('tools', []);
  const [one, two] = [awaited(), awaited()];
  const wait = waiting(arrivals.settled('tools', [one, two]));
  one.arrive();
  arrivals.arrived('tools', true);
  expect(await overAfter(wait, 10)).toBe(false);
  two.arrive();
  arrivals.arrived('tools', true);
  expect(await overAfter(wait, 0)).toBe(true);
});

test('one that hangs holds up the others for a moment only', async () => {
  const arrivals = new Arrivals();
  const [good, hanging] = [awaited(), awaited()];
  const wait = waiting(arrivals.settled('tools', [good, hanging]));
  await vi.advanceTimersByTimeAsync(1000);
  good.arrive();
  arrivals.arrived('tools', true);
  expect(await overAfter(wait, 400)).toBe(false);
  expect(await overAfter(wait, 200)).toBe(true);
});

test('as long as nobody has come in it waits longer, but not for ever', async () => {
  const arrivals = new Arrivals();
  const wait = waiting(arrivals.settled('tools', [awaited()]));
  arrivals.arrived('tools', false);
  expect(await overAfter(wait, 9000)).toBe(false);
  expect(await overAfter(wait, 1100)).toBe(true);
});

test('where there is something to show without them, it does not wait as long for the first', async () => {
  const arrivals = new Arrivals();
  const wait = waiting(arrivals.settled('tools', [awaited()], true));
  expect(await overAfter(wait, 1900)).toBe(false);
  expect(await overAfter(wait, 200)).toBe(true);
});

test('the next list does not wait again for one that has been missing all along', async () => {
  const arrivals = new Arrivals();
  const hanging = awaited();
  arrivals.arrived('tools', true);
  await vi.advanceTimersByTimeAsync(2000);
  const wait = waiting(arrivals.settled('tools', [hanging]));
  expect(await overAfter(wait, 0)).toBe(true);
});

test('one that has only begun to start is waited for, whenever the others came', async () => {
  const arrivals = new Arrivals();
  arrivals.arrived('tools', true);
  await vi.advanceTimersByTimeAsync(60_000);
  const late = awaited();
  const wait = waiting(arrivals.settled('tools', [late]));
  expect(await overAfter(wait, 300)).toBe(false);
  late.arrive();
  expect(await overAfter(wait, 0)).toBe(true);
});

test('who looks for one thing does not count the time for which its server was kept from starting', async () => {
  const arrivals = new Arrivals();
  let startedAt = Infinity;
  const wait = waiting(arrivals.found([awaited(() => startedAt)], () => false));
  expect(await overAfter(wait, 60_000)).toBe(false);
  startedAt = performance.now();
  expect(await overAfter(wait, 9000)).toBe(false);
  expect(await overAfter(wait, 2000)).toBe(true);
});

test('what comes in of another kind says nothing about this one', async () => {
  const arrivals = new Arrivals();
  const wait = waiting(arrivals.settled('tools', [awaited()]));
  arrivals.arrived('resources', true);
  expect(await overAfter(wait, 9000)).toBe(false);
  arrivals.arrived('tools', true);
  expect(await overAfter(wait, 600)).toBe(true);
});
