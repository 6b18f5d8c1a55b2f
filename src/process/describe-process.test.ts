import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { holdsWithin } from '../../test/servers/shapes/watch.ts';
import { describeProcess, directoryFromLsof, environmentOf } from './describe-process.ts';

async function vanished(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return child.pid!;
}

// Only Switchyard uses it, and Switchyard does not run on Windows.
test.skipIf(process.platform === 'win32')(
  'a running process is described by its command line and directory',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-describe-'));
    const script = 'setInterval(() => {}, 1000)';
    const child = spawn(process.execPath, ['-e', script, '--', 'two words', 'line\nbreak\u001b'], {
      cwd: folder,
      stdio: 'ignore',
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    });
    // Before its exec, the process is a copy of ours.
    expect(
      await holdsWithin(10_000, () => describeProcess(child.pid!)?.command.includes('two words') === true),
    ).toBe(true);
    const found = describeProcess(child.pid!);
    expect(found?.pid).toBe(child.pid);
    if (process.platform === 'linux') {
      expect(found).toEqual({
        pid: child.pid,
        command: `${process.execPath} -e ${script} -- two words line\\nbreak\\x1b`,
        cwd: folder,
      });
    }
  },
);

test('a process that is gone is not described', async () => {
  const pid = await vanished();
  expect(describeProcess(pid)).toBeUndefined();
  expect(environmentOf(pid)).toBeUndefined();
});

describe.runIf(process.platform === 'linux')('on Linux', () => {
  test('a zombie is not described', async () => {
    // The shell becomes a process that never collects its child.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [text] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(text.toString());
    expect(await holdsWithin(10_000, () => describeProcess(pid) === undefined)).toBe(true);
  });

  test('the environment of another process is read as it was given', async () => {
    const env = { ONE: '1', EMPTY: '', ODD: 'a=b\nc=ü', '__proto__.x': 'y' };
    const child = spawn('/bin/sleep', ['60'], { env, stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await holdsWithin(10_000, () => environmentOf(child.pid!)?.['ONE'] === '1')).toBe(true);
    expect(environmentOf(child.pid!)).toEqual(env);
  });
});

test('a directory is read from lsof, which escapes what is not ASCII', () => {
  expect(directoryFromLsof('p533\nfcwd\nn/Users/ada/caf\\xc3\\xa9 shop\n')).toBe('/Users/ada/café shop');
  expect(directoryFromLsof('p533\nfcwd\nn/private/tmp\n')).toBe('/private/tmp');
  // lsof 4.99, which Nix and others install on a Mac, does not print the descriptor.
  expect(directoryFromLsof('p533\nn/private/tmp\n')).toBe('/private/tmp');
  expect(directoryFromLsof('')).toBeUndefined();
});
