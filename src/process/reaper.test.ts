import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  carriersOf,
  holdsWithin,
  isAlive,
  readyShape,
  reapersOf,
  shapeProgram,
  SHAPES,
} from '../../test/servers/shapes/watch.ts';
import { until } from '../../test/helpers/until.ts';
import { silentLogger } from '../shared/log.ts';
import { cgroupDirectory } from './cgroup.ts';
import { readStat, type ProcessIdentity } from './process-identity.ts';
import { createReaper } from './reaper.ts';
import { REAPER_SCRIPT } from './reaper-script.ts';
import { ownIdentity } from './recorded-identity.ts';
import { sweepRuns } from './sweep-runs.ts';

/**
 * A timeout that is never reached unless something is wrong, in milliseconds. How soon the reaper acts is measured by
 * counting its checks.
 */
const LONG = 20_000;

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

/** A gateway in a separate process with all these shapes ready; the gateway and its children carry the cookie. */
async function gateway(shapes: readonly string[], env: Record<string, string> = {}) {
  const value = randomUUID();
  const mark = `REAPER_MARK=${value}`;
  const child = spawn(process.execPath, [program, shapeProgram, ...shapes], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env, REAPER_MARK: value },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    for (const pid of carriersOf(mark)) process.kill(pid, 'SIGKILL');
  });
  const ready = await readyShape(child.stdout);
  const anyAlive = (): boolean => carriersOf(mark).length > 0 || ready.some(({ pid }) => isAlive(pid));
  onTestFinished(() => {
    for (const { pid } of ready) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return { child, mark, anyAlive, reapers: reapersOf(child.pid!) };
}

describe.runIf(process.platform === 'linux')('the reaper', () => {
  test.each([1, 2])('leaves no process of any shape after SIGKILL, and goes (%i)', async () => {
    const { child, anyAlive, reapers } = await gateway([...SHAPES, 'scrubs-environment', 'own-environment']);
    expect(reapers).toHaveLength(1);
    child.kill('SIGKILL');
    expect(await holdsWithin(LONG, () => !reapers.some(isAlive))).toBe(true);
    expect(anyAlive()).toBe(false);
  });

  test('of an outer gateway reaches the children of a gateway inside', async () => {
    const { child, mark, anyAlive } = await gateway(['nested']);
    expect(carriersOf(mark).length).toBeGreaterThan(4);
    child.kill('SIGKILL');
    expect(await holdsWithin(LONG, () => !anyAlive())).toBe(true);
  });

  test('has nothing to do after a clean stop, also with a nested gateway', async () => {
    const { child, anyAlive, reapers } = await gateway(['nested', 'double-fork']);
    child.stdin.write('stop');
    await once(child, 'exit');
    expect(anyAlive()).toBe(false);
    expect(await holdsWithin(LONG, () => !reapers.some(isAlive))).toBe(true);
  });

  test('finds almost nothing left when an uncaught exception killed everything at once', async () => {
    const { child, anyAlive } = await gateway(['setsid-orphan', 'ignores-term', 'job-control']);
    child.stdin.write('throw');
    await once(child, 'exit');
    expect(await holdsWithin(LONG, () => !anyAlive())).toBe(true);
  });

  test('is small, has its own session and ignores signals', async () => {
    const { child, reapers, anyAlive } = await gateway(['plain']);
    const reaper = reapers[0]!;
    expect(readStat(reaper)?.session).toBe(reaper);
    const resident = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${reaper}/status`, 'latin1'))?.[1]);
    expect(resident).toBeLessThan(4096);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(reaper, signal);
    child.kill('SIGKILL');
    expect(await holdsWithin(LONG, () => !anyAlive())).toBe(true);
  });

  test('is no reason to end if the system throws when it is to start', async () => {
    const warnings: string[] = [];
    const log = { ...silentLogger, warn: (text: string) => void warnings.push(text) };
    // E2BIG: a single variable may not be this long.
    const env: Record<string, string> = { LONG: 'x'.repeat(1e6) };
    const reaper = createReaper({ log, cookieName: 'COOKIE', env });
    reaper.ready();
    expect(reaper.pid).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('the reaper could not be started')]);
    delete env['LONG'];
    expect(await holdsWithin(LONG, () => reaper.pid !== undefined)).toBe(true);
    reaper.dismiss();
  });

  test('is started again at once if it was lost, with the current children', async () => {
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
    expect(await holdsWithin(LONG, () => existsSync(heard) && readFileSync(heard, 'utf8') === before)).toBe(
      true,
    );
    process.kill(first, 'SIGKILL');
    expect(await holdsWithin(LONG, () => ![first, undefined].includes(reaper.pid))).toBe(true);
    reaper.enlist({ pid: 33, startTime: 3 });
    const second = reaper.pid!;
    reaper.dismiss();
    expect(await holdsWithin(LONG, () => !isAlive(second))).toBe(true);
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

describe.runIf(process.platform === 'linux')('what a run recorded', () => {
  const records = (): string => mkdtempSync(join(folder, 'records-'));
  const sweep = (directory: string): Promise<void> =>
    sweepRuns({ directory, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, log: silentLogger });

  test('is ended by the next one if its reaper was killed with it', async () => {
    const directory = records();
    const { child, anyAlive, reapers } = await gateway([...SHAPES, 'own-environment'], {
      RECORDS: directory,
    });
    // Suspended, so that it cannot restart its reaper.
    child.kill('SIGSTOP');
    process.kill(reapers[0]!, 'SIGKILL');
    const killed = once(child, 'exit');
    child.kill('SIGKILL');
    await killed;
    expect(anyAlive()).toBe(true);
    await sweep(directory);
    expect(anyAlive()).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is gone after a clean stop, and left alone while the run lasts', async () => {
    const directory = records();
    const { child, anyAlive } = await gateway(['plain'], { RECORDS: directory });
    await sweep(directory);
    expect(readdirSync(directory)).toHaveLength(1);
    expect(anyAlive()).toBe(true);
    child.stdin.write('stop');
    await once(child, 'exit');
    expect(readdirSync(directory)).toEqual([]);
  });

  test.each([
    ['in a directory that others may write', (file: string) => chmodSync(dirname(file), 0o777)],
    ['in a file that others may write', (file: string) => chmodSync(file, 0o666)],
    ['in a file with a second name', (file: string) => linkSync(file, join(folder, basename(file)))],
    [
      'behind a link',
      (file: string) => {
        const target = join(folder, basename(file));
        renameSync(file, target);
        symlinkSync(target, file);
      },
    ],
  ])('may have been planted, and ends nothing: %s', async (_, plant) => {
    const directory = records();
    const victim = sleeper();
    const { pid = 0 } = victim;
    const root = { pid, startTime: readStat(pid)!.startTime, ordinal: null };
    const cookieName = `SWITCHBOARD_RUN_${randomBytes(8).toString('hex')}`;
    const file = join(directory, `${cookieName}.json`);
    const write = (): void => {
      const owner = { ...ownIdentity(), startTime: 1 };
      writeFileSync(file, JSON.stringify({ cookieName, owner, cgroups: null, roots: [root] }), {
        mode: 0o600,
      });
    };
    write();
    plant(file);
    await sweep(directory);
    expect(isAlive(pid)).toBe(true);
    expect(readdirSync(directory)).toEqual([basename(file)]);
    // The same record, but nobody else can write to it.
    chmodSync(directory, 0o700);
    rmSync(file);
    write();
    await sweep(directory);
    expect(isAlive(pid)).toBe(false);
  });

  test('proves nothing of another process with the same pid, of another boot, or of an old session', async () => {
    const directory = records();
    const stranger = sleeper();
    const { pid = 0 } = stranger;
    const { startTime } = readStat(pid)!;
    const owner = { ...ownIdentity(), startTime: 1 };
    const write = (name: string, record: object): string => {
      const file = join(directory, `SWITCHBOARD_RUN_${name.padEnd(16, '0')}.json`);
      writeFileSync(file, JSON.stringify({ cookieName: basename(file, '.json'), ...record }));
      return file;
    };
    write('a', { owner, cgroups: null, roots: [{ pid, startTime: startTime - 1, ordinal: null }] });
    const root = { pid, startTime, ordinal: null };
    const elsewhere = write('b', {
      owner: { ...owner, place: 'another boot' },
      cgroups: null,
      roots: [root],
    });
    // The root has ended, and since then as many processes were started as there are pids.
    const { root: gone, helper } = await leftBehind();
    write('c', { owner, cgroups: null, roots: [{ ...gone, ordinal: -1e9 }] });
    await sweep(directory);
    expect([pid, helper].every(isAlive)).toBe(true);
    expect(readdirSync(directory)).toEqual([basename(elsewhere)]);
  });
});

/** A process with this environment (`NAME=value`, …) in the session of a root that has exited. */
async function leftBehind(...env: readonly string[]): Promise<{ root: ProcessIdentity; helper: number }> {
  const script = 'env -i "$@" sleep 60 >/dev/null & echo $!; read -r line';
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...env], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const helper = Number((await once(child.stdout, 'data'))[0]);
  onTestFinished(() => {
    if (isAlive(helper)) process.kill(helper, 'SIGKILL');
  });
  const { pid, startTime } = readStat(child.pid!)!;
  // A process that has just been forked still has the environment of its parent.
  await until(() => readFileSync(`/proc/${helper}/comm`, 'utf8') === 'sleep\n', { what: 'the helper' });
  child.stdin.end();
  await once(child, 'exit');
  return { root: { pid, startTime }, helper };
}

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

  test('ends a session whose root is gone', async () => {
    const { root, helper } = await leftBehind();
    expect(await sweep([`cookie ${cookie}=`, `enlist ${root.pid} ${root.startTime}`])).toBe(0);
    expect(isAlive(helper)).toBe(false);
  });

  test('spares what the records of Switchyard prove, and nothing that only says so', async () => {
    const home = mkdtempSync(join(folder, 'home of é-'));
    const recorded = `${randomBytes(4).toString('hex')}.${randomBytes(16).toString('hex')}`;
    const unknown = recorded.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    writeFileSync(join(home, 'state.json'), JSON.stringify({ version: 1, cookie: recorded }));
    const [service, daemon, forged, word, homeless] = await Promise.all(
      [
        [`SWITCHYARD_HOME=${home}`, `SWITCHYARD_COOKIE=${recorded}`],
        [`SWITCHYARD_HOME=${home}`, `SWITCHYARD_DAEMON=${recorded}`],
        [`SWITCHYARD_HOME=${home}`, `SWITCHYARD_COOKIE=${unknown}`],
        [`SWITCHYARD_HOME=${home}`, 'SWITCHYARD_COOKIE=version'],
        [`SWITCHYARD_COOKIE=${recorded}`],
      ].map((env) => leftBehind(...env)),
    );
    const all = [service!, daemon!, forged!, word!, homeless!];
    await sweep([
      `cookie ${cookie}=`,
      ...all.map(({ root: { pid, startTime } }) => `enlist ${pid} ${startTime}`),
    ]);
    expect(all.map(({ helper }) => isAlive(helper))).toEqual([true, true, false, false, false]);
  });

  test('does not wait for a pipe that is named as the records of Switchyard', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    execFileSync('mkfifo', [join(home, 'state.json')]);
    const mark = `${randomBytes(4).toString('hex')}.${randomBytes(16).toString('hex')}`;
    const { root, helper } = await leftBehind(`SWITCHYARD_HOME=${home}`, `SWITCHYARD_COOKIE=${mark}`);
    expect(await sweep([`cookie ${cookie}=`, `enlist ${root.pid} ${root.startTime}`])).toBe(0);
    expect(isAlive(helper)).toBe(false);
  });

  test('sends SIGKILL by the clock, however long a look takes', async () => {
    const tools = mkdtempSync(join(folder, 'slow-'));
    const log = join(tools, 'log');
    const real = ['/usr/bin/grep', '/bin/grep'].find((path) => existsSync(path))!;
    writeFileSync(join(tools, 'grep'), `#!/bin/sh\necho "$1" >>${log}\nsleep 0.4\nexec ${real} "$@"\n`, {
      mode: 0o755,
    });
    const ignorant = spawn('/bin/sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'], {
      env: { ...process.env, [cookie]: 'abc' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => void ignorant.kill('SIGKILL'));
    await once(ignorant.stdout, 'data');
    expect(await sweep([`cookie ${cookie}=`], `${tools}:/usr/bin:/bin`)).toBe(0);
    expect(isAlive(ignorant.pid!)).toBe(false);
    // One check to ask, one until the time is up, one to kill, one while it dies, and two to be sure.
    const looks = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line === '-laF');
    expect(looks.length).toBeLessThanOrEqual(6);
  });

  test.runIf(cgroupDirectory() !== undefined)(
    'ends a process that only its cgroup gives away, and removes the cgroup',
    async () => {
      const directory = cgroupDirectory()!;
      const own = join(directory, `${cookie}=${randomBytes(8).toString('hex')}`);
      mkdirSync(own);
      const inside = sleeper();
      writeFileSync(join(own, 'cgroup.procs'), String(inside.pid));
      expect(await sweep([`cookie ${cookie}=`, `cgroups ${directory}`])).toBe(0);
      expect(isAlive(inside.pid!)).toBe(false);
      expect(existsSync(own)).toBe(false);
      mkdirSync(own);
      expect(await sweep([`cookie ${cookie}=`, `cgroups ${directory}`, 'dismiss'])).toBe(0);
      expect(existsSync(own)).toBe(false);
    },
  );

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

/** An idle process in a new session. */
function sleeper(env: Record<string, string> = {}): ChildProcess {
  const child = spawn('sleep', ['60'], { env: { ...process.env, ...env }, stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
