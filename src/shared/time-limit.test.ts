import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TimeLimit } from './time-limit.ts';

// Only the clock is replaced, because what happens when the time runs out is being tested.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('it aborts when the time has run out', () => {
  const limit = new TimeLimit(1000);
  vi.advanceTimersByTime(999);
  expect(limit.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(limit).toMatchObject({ expired: true, signal: { aborted: true } });
});

test('it pauses while the user is asked, also twice at once', async () => {
  const limit = new TimeLimit(1000);
  vi.advanceTimersByTime(600);
  const answers: (() => void)[] = [];
  const asked = [0, 1].map(() => limit.hold(() => new Promise<void>((resolve) => answers.push(resolve))));
  vi.advanceTimersByTime(60_000);
  answers[0]!();
  await asked[0];
  vi.advanceTimersByTime(60_000);
  expect(limit.expired).toBe(false);
  answers[1]!();
  await asked[1];
  vi.advanceTimersByTime(399);
  expect(limit.expired).toBe(false);
  vi.advanceTimersByTime(1);
  expect(limit.expired).toBe(true);
});

test('closing stops what runs and never expires, even during a question', async () => {
  const limit = new TimeLimit(1000);
  let answer = (): void => undefined;
  const asked = limit.hold(() => new Promise<void>((resolve) => (answer = resolve)));
  limit.close();
  answer();
  await asked;
  expect(limit.signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  expect(limit.expired).toBe(false);
});

test('a time longer than timers can count does not run out at once', () => {
  const limit = new TimeLimit(1e12);
  vi.advanceTimersByTime(1000);
  expect(limit.expired).toBe(false);
  limit.close();
});
