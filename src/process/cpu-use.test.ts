import { spawn } from 'node:child_process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cpuUseOf, createCpuMeter, parseCimCpu, parsePsCpu, parseStatCpu } from './cpu-use.ts';

describe('what the system tells', () => {
  test('/proc: the times of the process and of the children it has waited for', () => {
    const line = '4711 (a b) c) R 42 4711 4700 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 98765 1 2 3\n';
    expect(parseStatCpu(line)).toEqual({ pid: 4711, parent: 42, session: 4700, cpuMs: 1000, working: true });
    expect(parseStatCpu(line.replace(') R', ') S'))?.working).toBe(false);
    expect(parseStatCpu(line.replace(') R', ') D'))?.working).toBe(true);
  });

  test.each(['', '4711 (node', '4711 (node) S 42 1'])('%j is nobody', (text) => {
    expect(parseStatCpu(text)).toBeUndefined();
  });

  test('ps: times with hundredths, hours or days', () => {
    const text = '  1  0  1 Ss   0:02.50\n 12  1 12 R+  1:01:01\n 13 12 12 U   2-00:00:01\nnonsense\n';
    expect(parsePsCpu(text)).toEqual([
      { pid: 1, parent: 0, session: 1, cpuMs: 2500, working: false },
      { pid: 12, parent: 1, session: 12, cpuMs: 3_661_000, working: true },
      { pid: 13, parent: 12, session: 12, cpuMs: 172_801_000, working: true },
    ]);
  });

  test('ps of macOS: minutes are not carried over to hours', () => {
    // Times reported on a Mac for launchd, coreservicesd and a short-lived daemon.
    const text = '  1  0  1 Ss  57:24.25\n122  1 122 Ss 139:17.71\n108  1 108 Ss   0:00.62\n';
    expect(parsePsCpu(text).map(({ cpuMs }) => cpuMs)).toEqual([3_444_250, 8_357_710, 620]);
  });

  test('Windows: milliseconds', () => {
    expect(parseCimCpu('4 0 120\r\n88 4 7\r\nProcessId\r\n')).toEqual([
      { pid: 4, parent: 0, session: 4, cpuMs: 120, working: false },
      { pid: 88, parent: 4, session: 88, cpuMs: 7, working: false },
    ]);
  });
});

test('a process is counted with its session and all descendants, and nothing else', () => {
  const one = (pid: number, parent: number, session: number, working = false) => ({
    pid,
    parent,
    session,
    cpuMs: pid,
    working,
  });
  const all = [one(100, 1, 100), one(200, 9, 100), one(400, 300, 7, true), one(300, 200, 8), one(500, 1, 9)];
  expect(cpuUseOf(100, all)).toEqual({ cpuMs: 1000, working: true });
  expect(cpuUseOf(500, all)).toEqual({ cpuMs: 500, working: false });
  expect(cpuUseOf(600, all)).toBeUndefined();
});

test.runIf(process.platform !== 'win32')('this system tells how much a process uses', async () => {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { look } = createCpuMeter();
  const used = async (): Promise<number> => cpuUseOf(child.pid!, await look())?.cpuMs ?? 0;
  const before = await used();
  await expect.poll(used, { timeout: 20_000 }).toBeGreaterThan(before);
});
