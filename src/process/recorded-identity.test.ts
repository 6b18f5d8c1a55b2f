import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { processStatus, ownIdentity } from './recorded-identity.ts';

test('an identity is alive as long as its process, and not if another process has the pid', async () => {
  const own = ownIdentity();
  expect(processStatus(own)).toBe('alive');
  if (process.platform !== 'win32')
    expect(processStatus({ ...own, startTime: own.startTime - 1 })).toBe('gone');
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(processStatus({ ...own, pid: child.pid! })).toBe('gone');
});

test('a process on another machine or namespace is unknown', () => {
  expect(processStatus({ ...ownIdentity(), place: 'elsewhere' })).toBe('unknown');
});
