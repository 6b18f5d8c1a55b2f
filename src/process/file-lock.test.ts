import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withFileLock } from './file-lock.ts';
import { ownIdentity } from './process-identity.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-lock-'));
  file = join(directory, 'a.lock');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('work under one lock runs one after the other, and no file is left', async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise((resume) => setImmediate(resume));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 12 }, () => withFileLock(file, work)));
  expect(most).toBe(1);
  expect(readdirSync(directory)).toEqual([]);
});

test('the lock is released after work that failed', async () => {
  await expect(withFileLock(file, () => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
  expect(await withFileLock(file, () => 'done')).toBe('done');
});

test('a lock left by a dead process is taken over, by one process at a time', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  const dead = JSON.stringify({ ...ownIdentity(), pid: child.pid });
  writeFileSync(file, dead);
  writeFileSync(`${file}.clearing`, dead);
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise((resume) => setImmediate(resume));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => withFileLock(file, work)));
  expect(most).toBe(1);
  expect(readdirSync(directory)).toEqual([]);
});

test('a lock of a running process is waited for, until the timeout', async () => {
  writeFileSync(file, JSON.stringify(ownIdentity()));
  await expect(withFileLock(file, () => 'done', { timeoutMs: 50 })).rejects.toMatchObject({
    code: 'LOCK_BUSY',
  });
  expect(existsSync(file)).toBe(true);
  const stop = AbortSignal.abort();
  await expect(withFileLock(file, () => 'done', { signal: stop })).rejects.toMatchObject({ code: 'STOPPED' });
});

test('an old lock of an invisible process or an unknown format is taken over', async () => {
  for (const content of [JSON.stringify({ ...ownIdentity(), place: 'elsewhere' }), 'garbage']) {
    writeFileSync(file, content);
    await expect(withFileLock(file, () => 'done', { timeoutMs: 30 })).rejects.toMatchObject({
      code: 'LOCK_BUSY',
    });
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(file, longAgo, longAgo);
    expect(await withFileLock(file, () => 'done')).toBe('done');
  }
});
