import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSync } from './run-sync.ts';

const now = (script: string, more: Partial<Parameters<typeof runSync>[2]> = {}): string | undefined =>
  runSync(process.execPath, ['-e', script], {
    cwd: tmpdir(),
    env: process.env,
    timeout: 20_000,
    maxBytes: 1000,
    ...more,
  });

test('the output is returned, without the error output', () => {
  expect(now(`console.log('\u00fc', process.cwd() !== ''); console.error('no')`)).toBe('ü true\n');
  expect(now('')).toBe('');
});

test.each([
  ['fails', () => now('console.log(1); process.exitCode = 1')],
  ['is ended', () => now(`process.kill(process.pid, 'SIGKILL')`)],
  ['says too much', () => now(`console.log('x'.repeat(5000))`)],
  ['has no directory', () => now('', { cwd: join(tmpdir(), 'not-there') })],
  ['does not exist', () => runSync('no-such-program', [], { cwd: '.', env: {}, timeout: 1000, maxBytes: 1 })],
])('nothing where it %s', (_how, what) => {
  expect(what()).toBeUndefined();
});

test.skipIf(process.platform === 'win32')('a command that takes too long is killed', () => {
  const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`;
  expect(now(stubborn, { timeout: 1500 })).toBeUndefined();
});

test('it does not read our stdin', () => {
  expect(now(`process.stdin.on('data', console.log).on('end', () => console.log('end'))`)).toBe('end\n');
});
