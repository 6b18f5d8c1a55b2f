import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { processStatus, ownIdentity } from './process-identity.ts';

test('a mark is alive as long as its process is, and not when another one has the pid', async () => {
  const own = ownIdentity();
  expect(processStatus(own)).toBe('alive');
  if (process.platform !== 'win32')
    expect(processStatus({ ...own, startTime: own.startTime - 1 })).toBe('gone');
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(processStatus({ ...own, pid: child.pid! })).toBe('gone');
});

test('of a process in another place nothing is known', () => {
  expect(processStatus({ ...ownIdentity(), place: 'elsewhere' })).toBe('unknown');
});
