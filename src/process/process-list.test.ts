import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../test/helpers/until.ts';
import { createProcProcessList } from './process-list-proc.ts';
import { createPsProcessList, parsePs } from './process-list-ps.ts';
import type { ProcessList } from './process-list.ts';
import { psColumns } from './ps-columns.ts';

const linux = process.platform === 'linux';
/** Small systems do not have it. */
const hasPs = process.platform !== 'win32' && spawnSync('ps', ['-p', '1', '-o', 'lstart=']).status === 0;

function sleeper(env: Record<string, string> = {}): number {
  const child = spawn('sleep', ['60'], { env: { ...process.env, ...env }, stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid!;
}

function entryOf(processes: ProcessList, pid: number, since = 0) {
  return processes.read(since).find((entry) => entry.pid === pid);
}

/** Blocks the event loop, so that Node cannot collect children that end meanwhile. */
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
  test('parses what macOS prints, in any time zone', () => {
    const text = [
      '    1     0     1 Ss   Sat Nov 15 09:07:01 2025    ',
      '  533   501   533 S+   Mon Dec  1 23:59:59 2025    ',
      '99998   533   533 Z+   Mon Dec  1 23:59:59 2025    ',
      '',
      'rubbish',
      '  534     1   534 Z    -                           ',
    ].join('\n');
    const entry = { parent: 0, session: 1, cookie: undefined, alive: true };
    const later = Date.UTC(2025, 11, 1, 23, 59, 59) / 1000;
    expect(parsePs(text)).toEqual([
      { ...entry, pid: 1, startTime: Date.UTC(2025, 10, 15, 9, 7, 1) / 1000 },
      { ...entry, pid: 533, parent: 501, session: 533, startTime: later },
      { ...entry, pid: 99_998, parent: 533, session: 533, startTime: later, alive: false },
    ]);
  });

  test('parses what macOS 26 printed for its first process, with other columns left out', () => {
    const line = '    1     0     1 Ss   Wed Jul 29 15:37:10 2026    ';
    expect(parsePs(line)).toMatchObject([
      { pid: 1, parent: 0, startTime: Date.UTC(2026, 6, 29, 15, 37, 10) / 1000 },
    ]);
  });

  test('asks for each column with an option of its own: behind the first "=" is a header', () => {
    expect(psColumns('pid', 'lstart')).toEqual(['-o', 'pid=', '-o', 'lstart=']);
  });

  test.runIf(hasPs)('counts start times from the epoch, wherever the clock is', () => {
    const zone = process.env.TZ;
    onTestFinished(() => {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    });
    const processes = createPsProcessList();
    process.env.TZ = 'Asia/Tokyo';
    const { startTime } = processes.identify(process.pid)!;
    process.env.TZ = 'America/New_York';
    expect(processes.identify(process.pid)).toMatchObject({ startTime });
    expect(Math.abs(startTime - performance.timeOrigin / 1000)).toBeLessThan(60);
  });

  test.runIf(hasPs)('a zombie is identified, but not listed and not signalled', async () => {
    const processes = createPsProcessList();
    // The child ends after the shell has become a program that does not collect the child's exit, as the shell would.
    const program = `console.log('ready'); setTimeout(() => {}, 30_000)`;
    const script = `cat <&3 >/dev/null & echo $!; exec "$0" -e "$1" 3<&-`;
    const parent = spawn('/bin/sh', ['-c', script, process.execPath, program], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    let said = '';
    parent.stdout?.on('data', (chunk: Buffer) => (said += String(chunk)));
    await until(() => said.includes('ready'), { what: 'the parent to be another program' });
    const pid = Number.parseInt(said);
    parent.stdio[3]?.destroy();
    const zombie = await until(() => {
      const found = processes.identify(pid);
      return processes.read(0).some((entry) => entry.pid === pid) ? undefined : found;
    });
    expect(zombie.pid).toBe(pid);
    expect(processes.signal(zombie, 'SIGKILL')).toBe('gone');
  });

  test.runIf(hasPs)('sees a child with its process group, and ends only that one', () => {
    const processes = createPsProcessList();
    const pid = sleeper();
    const identity = processes.identify(pid)!;
    expect(entryOf(processes, pid)).toMatchObject({ parent: process.pid, session: pid });
    expect(processes.signal({ pid, startTime: identity.startTime - 5 }, 'SIGKILL')).toBe('gone');
    expect(processes.signal(identity, 'SIGKILL')).toBe('sent');
  });
});
