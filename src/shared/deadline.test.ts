import { expect, test, vi } from 'vitest';
import { Deadlines, type Deadline } from './deadline.ts';

test('deadlines fire in time, moved ones later, removed ones never', () => {
  vi.useFakeTimers();
  try {
    const fired: string[] = [];
    const deadlines = new Deadlines();
    const set = (ms: number, name: string): Deadline => {
      const deadline = { at: performance.now() + ms, place: -1, expired: () => void fired.push(name) };
      deadlines.add(deadline);
      return deadline;
    };
    set(100, 'a');
    const moved = set(100, 'b');
    const removed = set(50, 'c');
    set(20, 'd');
    deadlines.remove(removed);
    deadlines.remove(removed);
    vi.advanceTimersByTime(60);
    expect(fired).toEqual(['d']);
    deadlines.move(moved, performance.now() + 100);
    vi.advanceTimersByTime(50);
    expect(fired).toEqual(['d', 'a']);
    vi.advanceTimersByTime(60);
    expect(fired).toEqual(['d', 'a', 'b']);
    expect(deadlines.size).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
