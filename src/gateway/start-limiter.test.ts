import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StartLimiter } from './start-limiter.ts';

// Only timers are faked: how long a slot is held is the behaviour under test.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Starts something that never finishes starting. */
function hang(gate: StartLimiter, name: string, urgent = false) {
  const start = { begun: false, leave: (): void => undefined };
  void gate.run({
    name,
    urgent: () => urgent,
    run: (leave) => {
      start.begun = true;
      start.leave = leave;
      return new Promise(() => undefined);
    },
  });
  return start;
}

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

test('a limited number start at a time; the next one starts when one of them is running', async () => {
  const gate = new StartLimiter({ concurrency: 2 });
  let up = (): void => undefined;
  const first = gate.run({ name: 'a', run: () => new Promise<void>((resolve) => (up = resolve)) });
  const [second, third] = [hang(gate, 'b'), hang(gate, 'c')];
  await settled();
  expect([second.begun, third.begun]).toEqual([true, false]);
  up();
  await first;
  await settled();
  expect(third.begun).toBe(true);
});

test('a start that leaves frees its place, but only once', async () => {
  const gate = new StartLimiter({ concurrency: 1 });
  const idle = hang(gate, 'idle');
  const [second, third] = [hang(gate, 'b'), hang(gate, 'c')];
  await settled();
  idle.leave();
  idle.leave();
  await settled();
  expect([second.begun, third.begun]).toEqual([true, false]);
});

test('a source with waiting calls goes first', async () => {
  const gate = new StartLimiter({ concurrency: 1 });
  const first = hang(gate, 'first');
  const background = hang(gate, 'background');
  const wanted = hang(gate, 'wanted', true);
  first.leave();
  await settled();
  expect([background.begun, wanted.begun]).toEqual([false, true]);
});

test('a start that hangs gives up its place after a while, and the next time almost immediately', async () => {
  const gate = new StartLimiter({ concurrency: 1, slotMs: 4000 });
  hang(gate, 'hanging');
  const next = hang(gate, 'other');
  await vi.advanceTimersByTimeAsync(3900);
  expect(next.begun).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(next.begun).toBe(true);
  await vi.advanceTimersByTimeAsync(4000);
  hang(gate, 'hanging');
  const later = hang(gate, 'third');
  await vi.advanceTimersByTimeAsync(150);
  expect(later.begun).toBe(true);
});
