import { expect, test } from 'vitest';
import { LogTap } from './log-tap.ts';

test('the last 200 lines are kept, the oldest first', () => {
  const tap = new LogTap();
  for (let line = 1; line <= 1000; line++) tap.add(`line ${line}`);
  expect(tap.lines).toHaveLength(200);
  expect(tap.lines.at(0)?.line).toBe('line 801');
  expect(tap.lines.at(-1)?.line).toBe('line 1000');
});

test('long lines push out more than their number, and the last one stays however long it is', () => {
  const tap = new LogTap();
  for (let line = 0; line < 100; line++) tap.add('x'.repeat(64 * 1024));
  expect(tap.lines).toHaveLength(4);
  tap.add('y'.repeat(1024 * 1024));
  expect(tap.lines.map(({ line }) => line[0])).toEqual(['y']);
  for (let line = 0; line < 1000; line++) tap.add('short');
  expect(tap.lines).toHaveLength(200);
});
