import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  carriersOf,
  holdsWithin,
  isAlive,
  readyShape,
  shapeProgram,
  SHAPES,
} from '../../test/servers/shapes/watch.ts';
import { silentLogger } from '../shared/log.ts';
import { readStat } from './process-identity.ts';
import { createReaper } from './reaper.ts';
import { REAPER_SCRIPT } from './reaper-script.ts';

let folder = '';
let program = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-reaper-'));
  program = join(folder, 'gateway.mjs');
  buildSync({
    entryPoints: [fileURLToPath(new URL('../../test/servers/shapes/gateway.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A gateway in a process of its own with all these shapes ready; its pid and its children carry the mark. */
async function gateway(shapes: readonly string[]) {
  const value = randomUUID();
  const mark = `REAPER_MARK=${value}`;
  const child = spawn(process.execPath, [program, shapeProgram, ...shapes], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, REAPER_MARK: value },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    for (const pid of carriersOf(mark)) process.kill(pid, 'SIGKILL');
  });
  const ready = await readyShape(child.stdout);
  const anyAlive = (): boolean => carriersOf(mark).length > 0 || ready.some(({ pid }) => isAlive(pid));
  return { child, mark, anyAlive, reapers: reapersOf(child.pid!) };
}

/** Finds reapers by what they run; they carry no mark. */
function reapersOf(parent: number): number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1')
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('# switchboard reaper'));
}

describe.runIf(process.platform === 'linux')('the reaper', () => {
  test.each([1, 2])('leaves no process of any shape two seconds after SIGKILL (%i)', async () => {
    const { child, anyAlive, reapers } = await gateway([...SHAPES, 'scrubs-environment']);
    expect(reapers).toHaveLength(1);
    child.kill('SIGKILL');
    expect(await holdsWithin(2000, () => !anyAlive())).toBe(true);
    expect(await holdsWithin(2000, () => !reapers.some(isAlive))).toBe(true);
  });

  test('of an outer gateway reaches the children of a gateway inside', async () => {
    const { child, mark, anyAlive } = await gateway(['nested']);
    expect(carriersOf(mark).length).toBeGreaterThan(4);
    child.kill('SIGKILL');
    expect(await holdsWithin(2500, () => !anyAlive())).toBe(true);
  });

  test('has nothing to do after a clean stop, also with a nested gateway', async () => {
    const { child, anyAlive, reapers } = await gateway(['nested', 'double-fork']);
    child.stdin.write('stop');
    await once(child, 'exit');
    expect(anyAlive()).toBe(false);
    expect(await holdsWithin(1000, () => !reapers.some(isAlive))).toBe(true);
  });

  test('finds almost nothing left when an uncaught exception killed everything at once', async () => {
    const { child, anyAlive } = await gateway(['setsid-orphan', 'ignores-term', 'job-control']);
    child.stdin.write('throw');
    await once(child, 'exit');
    expect(await holdsWithin(1000, () => !anyAlive())).toBe(true);
  });

  test('is small, has its own session and ignores signals', async () => {
    const { child, reapers, anyAlive } = await gateway(['plain']);
    const reaper = reapers[0]!;
    expect(readStat(reaper)?.session).toBe(reaper);
    const resident = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${reaper}/status`, 'latin1'))?.[1]);
    expect(resident).toBeLessThan(4096);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(reaper, signal);
    child.kill('SIGKILL');
    expect(await holdsWithin(2000, () => !anyAlive())).toBe(true);
  });

  test('is started again if it was lost, with the current children', async () => {
    const heard = join(folder, 'heard');
    const shell = join(folder, 'listening-shell');
    writeFileSync(shell, '#!/bin/sh\nexec cat >>"$HEARD"\n', { mode: 0o755 });
    const reaper = createReaper({
      log: silentLogger,
      cookieName: 'COOKIE',
      env: { ...process.env, HEARD: heard },
      shell,
    });
    reaper.ready();
    const first = reaper.pid!;
    reaper.enlist({ pid: 11, startTime: 1 });
    reaper.enlist({ pid: 22, startTime: 2 });
    reaper.release({ pid: 11, startTime: 1 });
    const before = 'cookie COOKIE=\nenlist 11 1\nenlist 22 2\nrelease 11 1\n';
    expect(await holdsWithin(2000, () => existsSync(heard) && readFileSync(heard, 'utf8') === before)).toBe(
      true,
    );
    process.kill(first, 'SIGKILL');
    expect(await holdsWithin(2000, () => reaper.pid === undefined)).toBe(true);
    reaper.enlist({ pid: 33, startTime: 3 });
    reaper.ready();
    const second = reaper.pid!;
    reaper.dismiss();
    expect(await holdsWithin(2000, () => !isAlive(second))).toBe(true);
    const after = 'cookie COOKIE=\nenlist 22 2\nenlist 33 3\ndismiss\n';
    expect(readFileSync(heard, 'utf8')).toBe(before + after);
  });

  test('is unavailable without a shell, which is reported once and does no harm', () => {
    const said: string[] = [];
    const log = { ...silentLogger, debug: (message: string) => void said.push(message) };
    const reaper = createReaper({ log, cookieName: 'X', env: {}, shell: '/no/such/sh' });
    reaper.ready();
    reaper.ready();
    reaper.enlist({ pid: 1, startTime: 1 });
    reaper.dismiss();
    expect(said).toHaveLength(1);
    expect(reaper.pid).toBeUndefined();
  });
});

const installed = ['/bin/sh', '/bin/dash', '/bin/bash', '/bin/busybox'].filter((path) => existsSync(path));
const shells = [...new Set(installed.map((path) => realpathSync(path)))];

describe.runIf(process.platform === 'linux').each(shells)('its program under %s', (shell) => {
  const cookie = `SWITCHBOARD_RUN_${randomBytes(8).toString('hex')}`;
  const sweep = async (lines: readonly string[], path = '/usr/bin:/bin'): Promise<number | null> => {
    const args = [...(shell.endsWith('busybox') ? ['sh'] : []), '-c', REAPER_SCRIPT];
    const child = spawn(shell, args, {
      env: { PATH: path, LC_ALL: 'C' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin.end(lines.map((line) => `${line}\n`).join(''));
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  const startOf = ({ pid }: ChildProcess): number => readStat(pid!)!.startTime;

  test('ends a carrier of the cookie and an enlisted session, and nothing else', async () => {
    const carrier = sleeper({ A: 'x\ny', [cookie]: 'abc', Z: 'z' });
    const enlisted = sleeper();
    const released = sleeper();
    const reused = sleeper();
    const bystander = sleeper({ [`${cookie}0`]: 'abc' });
    const code = await sweep([
      `cookie ${cookie}=`,
      `enlist ${enlisted.pid} ${startOf(enlisted)}`,
      `enlist ${released.pid} ${startOf(released)}`,
      `enlist ${reused.pid} ${startOf(reused) - 1}`,
      `release ${released.pid} ${startOf(released)}`,
    ]);
    expect(code).toBe(0);
    expect([carrier, enlisted].filter(({ pid }) => isAlive(pid!))).toEqual([]);
    expect([released, reused, bystander].every(({ pid }) => isAlive(pid!))).toBe(true);
  });

  test('works without grep', async () => {
    const tools = mkdtempSync(join(folder, 'tools-'));
    symlinkSync(
      ['/usr/bin/sleep', '/bin/sleep'].find((path) => existsSync(path))!,
      join(tools, 'sleep'),
    );
    const carrier = sleeper({ [cookie]: 'abc' });
    const enlisted = sleeper();
    expect(await sweep([`cookie ${cookie}=`, `enlist ${enlisted.pid} ${startOf(enlisted)}`], tools)).toBe(0);
    expect([carrier, enlisted].filter(({ pid }) => isAlive(pid!))).toEqual([]);
  });

  test('touches no process without a valid cookie, nor when dismissed', async () => {
    const victim = sleeper({ [cookie]: 'abc' });
    const enlist = `enlist ${victim.pid} ${startOf(victim)}`;
    expect(await sweep([enlist])).toBe(1);
    expect(await sweep(['cookie =', enlist])).toBe(1);
    expect(await sweep([`cookie ${cookie}=`, enlist, 'dismiss'])).toBe(0);
    expect(isAlive(victim.pid!)).toBe(true);
  });
});

/** A process in a session of its own that does nothing. */
function sleeper(env: Record<string, string> = {}): ChildProcess {
  const child = spawn('sleep', ['60'], { env: { ...process.env, ...env }, stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
