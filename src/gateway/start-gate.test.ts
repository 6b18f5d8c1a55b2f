import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StartGate } from './start-gate.ts';

// Only timers are replaced: how long a place is held is the behaviour.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Starts something that never comes up. */
function hang(gate: StartGate, name: string): { begun: boolean } {
  const start = { begun: false };
  void gate.enter(name, () => {
    start.begun = true;
    return new Promise(() => undefined);
  });
  return start;
}

test('so many start at one time; the next begins when one of them is there', async () => {
  const gate = new StartGate({ atOnce: 2 });
  let up = (): void => undefined;
  const first = gate.enter('a', () => new Promise<void>((resolve) => (up = resolve)));
  const [second, third] = [hang(gate, 'b'), hang(gate, 'c')];
  await vi.advanceTimersByTimeAsync(0);
  expect([second.begun, third.begun]).toEqual([true, false]);
  up();
  await first;
  await vi.advanceTimersByTimeAsync(0);
  expect(third.begun).toBe(true);
});

test('one that hangs gives its place up after a while, and the next time almost at once', async () => {
  const gate = new StartGate({ atOnce: 1, holdsMs: 4000 });
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
