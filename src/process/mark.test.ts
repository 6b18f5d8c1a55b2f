import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { fateOf, ownMark } from './mark.ts';

test('a mark is alive as long as its process is, and not when another one has the pid', async () => {
  const own = ownMark();
  expect(fateOf(own)).toBe('alive');
  if (process.platform !== 'win32') expect(fateOf({ ...own, startTime: own.startTime - 1 })).toBe('gone');
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(fateOf({ ...own, pid: child.pid! })).toBe('gone');
});

test('of a process in another place nothing is known', () => {
  expect(fateOf({ ...ownMark(), place: 'elsewhere' })).toBe('unknown');
});
