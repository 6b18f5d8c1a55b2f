import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ListWait } from './list-wait.ts';

// Only timers are faked: how long it waits is the behaviour under test.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function pending(startedAt?: () => number) {
  let arrive = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const since = performance.now();
  return { done, startedAt: startedAt ?? (() => since), arrive };
}

/** Whether the wait is over after this many more milliseconds. */
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

const listWaitOf = (ms: number): ListWait => new ListWait(() => ms);

test('a list waits for nothing where nothing is missing', () => {
  expect(listWaitOf(10_000).forList('tools', [])).toBeUndefined();
});

test('the first list waits for the last server, however long after the others it comes', async () => {
  const listWait = listWaitOf(10_000);
  const [fast, slow] = [pending(), pending()];
  const wait = waiting(listWait.forList('tools', [fast, slow]));
  fast.arrive();
  listWait.recheck();
  expect(await overAfter(wait, 9000)).toBe(false);
  slow.arrive();
  expect(await overAfter(wait, 0)).toBe(true);
});

test('one that hangs holds up the first list to the limit, and no later one', async () => {
  const listWait = listWaitOf(3000);
  const hanging = pending();
  const wait = waiting(listWait.forList('tools', [hanging]));
  expect(await overAfter(wait, 2900)).toBe(false);
  expect(await overAfter(wait, 200)).toBe(true);
  expect(listWait.forList('tools', [hanging])).toBeUndefined();
  expect(listWait.forList('tools', [pending()])).toBeUndefined();
});

test('a list that is asked for while the first one waits is given with it', async () => {
  const listWait = listWaitOf(3000);
  const hanging = pending();
  const first = waiting(listWait.forList('tools', [hanging]));
  await vi.advanceTimersByTimeAsync(2000);
  const second = waiting(listWait.forList('tools', [hanging]));
  expect(await overAfter(second, 900)).toBe(false);
  expect(await overAfter(second, 200)).toBe(true);
  expect(first.over).toBe(true);
});

test('after a first list that had all, later ones do not wait for what is added', () => {
  const listWait = listWaitOf(10_000);
  expect(listWait.forList('tools', [])).toBeUndefined();
  expect(listWait.forList('tools', [pending()])).toBeUndefined();
});

test('each kind of list has a first one', async () => {
  const listWait = listWaitOf(3000);
  void listWait.forList('tools', []);
  const wait = waiting(listWait.forList('prompts', [pending()]));
  expect(await overAfter(wait, 2900)).toBe(false);
  expect(await overAfter(wait, 200)).toBe(true);
});

test('with a limit of 0 not even the first one waits', () => {
  expect(listWaitOf(0).forList('tools', [pending()])).toBeUndefined();
});

test('what is looked for is found when it comes in', async () => {
  const listWait = listWaitOf(10_000);
  let there = false;
  const wait = waiting(listWait.forName([pending()], () => there));
  listWait.recheck();
  expect(await overAfter(wait, 500)).toBe(false);
  there = true;
  listWait.recheck();
  expect(await overAfter(wait, 0)).toBe(true);
});

test('who looks for one thing does not count the time for which its server was kept from starting', async () => {
  const listWait = listWaitOf(10_000);
  let startedAt = Infinity;
  const wait = waiting(listWait.forName([pending(() => startedAt)], () => false));
  expect(await overAfter(wait, 30_000)).toBe(false);
  startedAt = performance.now();
  expect(await overAfter(wait, 9000)).toBe(false);
  expect(await overAfter(wait, 2000)).toBe(true);
});

test('and is answered before its host gives the call up, however long that takes', async () => {
  const wait = waiting(listWaitOf(10_000).forName([pending(() => Infinity)], () => false));
  expect(await overAfter(wait, 49_000)).toBe(false);
  expect(await overAfter(wait, 1000)).toBe(true);
});
