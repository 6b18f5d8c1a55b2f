import { expect, test, vi } from 'vitest';
import { Deadlines } from './deadline.ts';

test('deadlines fire in time, extended ones later, cleared ones never', () => {
  vi.useFakeTimers();
  try {
    const fired: string[] = [];
    const deadlines = new Deadlines();
    deadlines.add(100, () => fired.push('a'));
    const extended = deadlines.add(100, () => fired.push('b'));
    const cleared = deadlines.add(50, () => fired.push('c'));
    deadlines.add(20, () => fired.push('d'));
    cleared.clear();
    vi.advanceTimersByTime(60);
    expect(fired).toEqual(['d']);
    extended.extend(100);
    vi.advanceTimersByTime(50);
    expect(fired).toEqual(['d', 'a']);
    vi.advanceTimersByTime(60);
    expect(fired).toEqual(['d', 'a', 'b']);
    expect(deadlines.size).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
