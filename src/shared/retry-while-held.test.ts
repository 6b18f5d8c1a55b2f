import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { readForReplacing, replaceFile } from './replace-file.ts';
import { retryWhileHeld } from './retry-while-held.ts';
import { writeFileAtomic } from './write-file.ts';

/** Fails like the system does, this many times. */
function failing(code: string, times: number): { readonly act: () => void; readonly calls: () => number } {
  let calls = 0;
  return {
    act: () => {
      calls++;
      if (calls <= times) throw Object.assign(new Error(`${code}: rename`), { code });
    },
    calls: () => calls,
  };
}

test.each(['EPERM', 'EACCES', 'EBUSY'])('on Windows, %s may be over in a moment', (code) => {
  const { act, calls } = failing(code, 5);
  retryWhileHeld('file', act, 'win32');
  expect(calls()).toBe(6);
});

test('a file that stays open is given up, with a reason for people', () => {
  const { act, calls } = failing('EPERM', Infinity);
  const since = performance.now();
  expect(() => retryWhileHeld('the-file', act, 'win32')).toThrow(
    expect.objectContaining({
      code: 'EBUSY',
      path: 'the-file',
      message: 'another program has it open, or it is read-only',
    }),
  );
  expect(calls()).toBe(10);
  expect(performance.now() - since).toBeGreaterThan(400);
});

test('other errors, and all errors of other systems, are final', () => {
  for (const [code, platform] of [
    ['ENOSPC', 'win32'],
    ['EPERM', 'linux'],
    ['EBUSY', 'darwin'],
  ] as const) {
    const { act, calls } = failing(code, 1);
    expect(() => retryWhileHeld('file', act, platform)).toThrow(code);
    expect(calls()).toBe(1);
  }
});

/** Another program that keeps the file open for this long. */
async function hold(file: string, ms: number): Promise<void> {
  const script = `const fd = require('fs').openSync(process.argv[1], 'r');
    console.log('open'); setTimeout(() => require('fs').closeSync(fd), Number(process.argv[2]));`;
  const holder = spawn(process.execPath, ['-e', script, file, String(ms)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void holder.kill());
  await once(holder.stdout, 'data');
}

test('a file that another program has open for a moment is replaced, and no draft stays', async () => {
  const project = createProject({ a: '1', b: '1' });
  await hold(project.path('a'), 150);
  writeFileAtomic(project.path('a'), '2');
  await hold(project.path('b'), 150);
  replaceFile(project.path('b'), readForReplacing(project.path('b')), Buffer.from('2'));
  expect([project.read('a'), project.read('b')]).toEqual(['2', '2']);
  expect(fs.readdirSync(project.dir).sort()).toEqual(['a', 'b']);
});
