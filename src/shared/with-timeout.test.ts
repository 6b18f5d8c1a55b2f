import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withTimeout } from './with-timeout.ts';

const never = new Promise<never>(() => undefined);

test('what comes in time is the result, and what fails in time fails', async () => {
  expect(await withTimeout(Promise.resolve('done'), 60_000, () => 'late')).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('failed')), 60_000, () => 'late')).rejects.toThrow(
    'failed',
  );
});

test('what takes too long is replaced by what `late` returns or throws', async () => {
  expect(await withTimeout(never, 1, () => 'late')).toBe('late');
  await expect(
    withTimeout(never, 1, () => {
      throw new Error('too late');
    }),
  ).rejects.toThrow('too late');
});

test('without an end, it waits', async () => {
  expect(await withTimeout(pause(20, 'done'), Infinity, () => 'late')).toBe('done');
});
