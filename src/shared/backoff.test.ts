import { expect, test } from 'vitest';
import { createBackoff, type Backoff } from './backoff.ts';

/** Restarts as often as advised, starting at `from` and failing each time immediately; returns the times. */
function restarts(
  backoff: Backoff,
  from: number,
  until: number,
  afterEach?: (now: number) => void,
): number[] {
  const times: number[] = [];
  let now = from;
  for (;;) {
    const advice = backoff.next(now);
    if (advice.kind === 'give-up') return times;
    now += advice.ms;
    if (now >= until) return times;
    times.push(now);
    afterEach?.(now);
  }
}

test('waits grow from a quarter of a second to half a minute', () => {
  const backoff = createBackoff({ random: () => 0 });
  const waits = [0, 1, 2, 3, 4].map(() => backoff.next(0));
  expect(waits).toEqual([250, 1250, 6250, 30_000, 30_000].map((ms) => ({ kind: 'wait', ms })));
});

test('jitter only adds, and at most a fifth', () => {
  expect(createBackoff({ random: () => 0.999_999 }).next(0)).toEqual({ kind: 'wait', ms: 300 });
});

test('a child that dies immediately is started at most five times in the first minute', () => {
  expect(restarts(createBackoff({ random: () => 0 }), 0, 60_000).length + 1).toBeLessThanOrEqual(5);
});

test('a child that always starts and dies again is given up after ten restarts in a minute', () => {
  const backoff = createBackoff({ random: () => 0 });
  const times = restarts(backoff, 0, 60_000, (now) => backoff.succeeded(now));
  expect(times).toHaveLength(10);
  expect(backoff.next(2500)).toEqual({ kind: 'give-up', until: times[0]! + 60_000 });
});

test('a child that was given up may try again when the oldest restart is a minute ago', () => {
  const backoff = createBackoff({ limit: 2, random: () => 0 });
  backoff.next(0);
  backoff.next(0);
  const advice = backoff.next(5000);
  expect(advice).toEqual({ kind: 'give-up', until: 60_250 });
  expect(backoff.next(60_249).kind).toBe('give-up');
  expect(backoff.next(60_250).kind).toBe('wait');
});

test('after a success the next wait is short again', () => {
  const backoff = createBackoff({ random: () => 0 });
  backoff.next(0);
  backoff.next(0);
  backoff.succeeded(2000);
  expect(backoff.next(3000)).toEqual({ kind: 'wait', ms: 250 });
});

test('a user who asks for another try gets it immediately', () => {
  const backoff = createBackoff({ limit: 1, random: () => 0 });
  backoff.next(0);
  expect(backoff.next(0).kind).toBe('give-up');
  backoff.reset();
  expect(backoff.next(0)).toEqual({ kind: 'wait', ms: 250 });
});
