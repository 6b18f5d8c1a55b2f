import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createProcProcessList } from './process-list-proc.ts';
import { createPsProcessList, parsePs } from './process-list-ps.ts';
import type { ProcessList } from './process-list.ts';

const linux = process.platform === 'linux';

function sleeper(env: Record<string, string> = {}): number {
  const child = spawn('sleep', ['60'], { env: { ...process.env, ...env }, stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid!;
}

function entryOf(processes: ProcessList, pid: number, since = 0) {
  return processes.read(since).find((entry) => entry.pid === pid);
}

/** Holds the whole turn, so that Node cannot collect children that end meanwhile. */
function holdTurn(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe.runIf(linux)('the process list of /proc', () => {
  test('sees session, parent and cookie of a child', () => {
    const processes = createProcProcessList('CENSUS_MARK');
    const pid = sleeper({ OTHER: 'x CENSUS_MARK=no', CENSUS_MARK: 'value' });
    const identity = processes.identify(pid)!;
    expect(entryOf(processes, pid)).toMatchObject({ parent: process.pid, session: pid, cookie: 'value' });
    expect(entryOf(processes, pid, identity.startTime)).toBeDefined();
    expect(entryOf(processes, pid, identity.startTime + 1)).toBeUndefined();
  });

  test('ignores the text of the cookie inside another variable', () => {
    const pid = sleeper({ OTHER: 'CENSUS_MARK=no' });
    expect(entryOf(createProcProcessList('CENSUS_MARK'), pid)?.cookie).toBeUndefined();
  });

  test('finds the cookie in an environment larger than any buffer', () => {
    const big = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`A${i}`, 'x'.repeat(100_000)]));
    const pid = sleeper({ ...big, CENSUS_MARK: 'v' });
    expect(entryOf(createProcProcessList('CENSUS_MARK'), pid)?.cookie).toBe('v');
  });

  test('a zombie has an identity but is not listed, and gets no signal', async () => {
    const processes = createProcProcessList('CENSUS_MARK');
    const child = spawn('true', { stdio: 'ignore' });
    const pid = child.pid!;
    holdTurn(200);
    const identity = processes.identify(pid)!;
    expect(identity.pid).toBe(pid);
    expect(entryOf(processes, pid)).toBeUndefined();
    expect(processes.signal(identity, 'SIGTERM')).toBe('gone');
    await once(child, 'exit');
  });

  test('signals no process with another start time', () => {
    const processes = createProcProcessList('CENSUS_MARK');
    const pid = sleeper();
    const { startTime } = processes.identify(pid)!;
    expect(processes.signal({ pid, startTime: startTime + 1 }, 'SIGKILL')).toBe('gone');
    expect(entryOf(processes, pid)).toBeDefined();
    expect(processes.signal({ pid, startTime }, 'SIGKILL')).toBe('sent');
  });
});

describe('the process list of ps', () => {
  test('parses what macOS prints, without zombies', () => {
    const text =
      '    1     0     1 Ss   Sat Nov 15 09:07:01 2025\n  42 1 42 Z Sat Nov 15 09:07:02 2025\n\nrubbish\n';
    expect(parsePs(text)).toEqual([
      {
        pid: 1,
        parent: 0,
        session: 1,
        startTime: Date.parse('Nov 15 2025 09:07:01') / 1000,
        cookie: undefined,
      },
    ]);
  });

  test.runIf(process.platform !== 'win32')(
    'sees a child with its process group, and ends only that one',
    () => {
      const processes = createPsProcessList();
      const pid = sleeper();
      const identity = processes.identify(pid);
      // Small systems come without ps; there the reading above is all that can be shown.
      if (identity === undefined) return;
      expect(entryOf(processes, pid)).toMatchObject({ parent: process.pid, session: pid });
      expect(processes.signal({ pid, startTime: identity.startTime - 5 }, 'SIGKILL')).toBe('gone');
      expect(processes.signal(identity, 'SIGKILL')).toBe('sent');
    },
  );
});
