import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../../test/helpers/until.ts';
import { endProcess } from '../../test/helpers/yard-home.ts';
import { carriersOf, environmentOf, isAlive } from '../../test/servers/shapes/watch.ts';
import { startDetached, type Detached } from './detached.ts';
import { reviveLogWriter, writtenLogs } from './log-writer.ts';

const MB = 1024 * 1024;

let folder: string;
let logFile: string;
let earlierLog: string;
const LIMIT = 10 * 1024 * 1024;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-log-writer-'));
  logFile = join(folder, 'logs', 'web.log');
  earlierLog = join(folder, 'logs', 'web.earlier.log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));

/** Runs this JavaScript, which may use `print(text)`, with a limited log. */
async function start(script: string): Promise<Detached> {
  const print = `const print = (text) => {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += require('node:fs').writeSync(1, bytes, at);
  };`;
  const started = await startDetached({
    name: 'web',
    command: process.execPath,
    args: ['-e', print + script],
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    logFile,
    logLimit: { earlierLog, bytes: LIMIT },
    exitFile: join(folder, 'logs', 'web.exit'),
  });
  onTestFinished(() => {
    if (isAlive(started.pid)) process.kill(-started.pid, 'SIGKILL');
  });
  return started;
}

/** A script that prints this many megabytes of numbered lines of 100 bytes. */
const flood = (megabytes: number): string => `
  for (let n = 0; n < ${megabytes} * 10000; n += 1000) {
    let text = '';
    for (let line = n; line < n + 1000; line++) text += ('line ' + line + ' ').padEnd(99, '.') + '\\n';
    print(text);
  }`;

/** The size of all files next to the log. */
function sizeNow(): number {
  const sizes = readdirSync(dirname(logFile)).map(
    (name) => statSync(join(dirname(logFile), name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function text(): string {
  const parts = [earlierLog, logFile].filter((file) => existsSync(file));
  return parts.map((file) => readFileSync(file, 'utf8')).join('');
}

/** The processes that write this log. */
function writers(): number[] {
  return carriersOf(`LOG_FILE=${logFile}\0`);
}

describe.skipIf(process.platform === 'win32')('a limited log', () => {
  test('is written with tools of the system, not with those of a project', async () => {
    const ran = join(folder, 'ran');
    for (const tool of ['mkfifo', 'dd', 'wc'])
      writeFileSync(join(folder, tool), `#!/bin/sh\necho ${tool} >>'${ran}'\nexit 1\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    await (
      await start('print("written\\n")')
    ).exited;
    expect(text()).toBe('written\n');
    expect(existsSync(ran)).toBe(false);
  });

  test(
    'never exceeds its limit while a program floods it, and keeps the last lines',
    { timeout: 120_000 },
    async () => {
      const { exited } = await start(flood(300));
      let running = true;
      void exited.then(() => (running = false));
      let largest = 0;
      while (running) {
        largest = Math.max(largest, sizeNow());
        await sleep(2);
      }
      expect(largest).toBeGreaterThan(4 * MB);
      expect(largest).toBeLessThanOrEqual(10 * MB);
      const lines = text().trimEnd().split('\n').slice(1);
      expect(lines.length * 100).toBeGreaterThan(4 * MB);
      const numbers = lines.map((line) => Number(/^line (\d+) \.+$/.exec(line)?.[1]));
      const last = 300 * 10_000 - 1;
      expect(numbers).toEqual(Array.from(numbers, (_, at) => last - numbers.length + 1 + at));
      expect(statSync(logFile).mode & 0o777).toBe(0o600);
      expect(readdirSync(dirname(logFile)).sort()).toEqual(['web.earlier.log', 'web.exit', 'web.log']);
    },
  );

  test('contains everything when the end of the program is known', async () => {
    const { exited } = await start(`print('out\\n'); console.error('err'); process.exit(3)`);
    expect(await exited).toEqual({ code: 3, signal: null });
    expect(text()).toBe('out\nerr\n');
  });

  test('shows each line at once, and a program may open its outputs by name', async () => {
    await start(`
      require('node:fs').appendFileSync('/dev/stdout', 'by name\\n');
      setInterval(() => {}, 1000);`);
    await until(() => text() === 'by name\n', { deadline: 30_000, seen: text });
  });

  test('does not hold up a program when its directory is deleted', async () => {
    const done = join(folder, 'done');
    const { exited } = await start(`
      print('ready\\n');
      while (!require('node:fs').existsSync('${join(folder, 'go')}'));
      ${flood(30)}
      require('node:fs').writeFileSync('${done}', '');`);
    await until(() => text() === 'ready\n', { deadline: 30_000, seen: text });
    rmSync(dirname(logFile), { recursive: true });
    appendFileSync(join(folder, 'go'), '');
    await exited;
    expect(existsSync(done)).toBe(true);
  });

  test('leaves the log of a later run alone', async () => {
    const { exited } = await start(`
      print('old\\n');
      while (!require('node:fs').existsSync('${join(folder, 'go')}'));
      ${flood(30)}`);
    await until(() => text() === 'old\n', { deadline: 30_000, seen: text });
    const previous = join(folder, 'logs', 'web.1.log');
    renameSync(logFile, previous);
    appendFileSync(logFile, 'new\n');
    appendFileSync(join(folder, 'go'), '');
    await exited;
    expect(text()).toBe('new\n');
    expect(readFileSync(previous, 'utf8')).toMatch(/^old\nline 0 /);
    expect(statSync(previous).size).toBeLessThanOrEqual(5 * MB);
  });
});

describe.runIf(process.platform === 'linux')('the processes that write a log', () => {
  const ticking = `let n = 0; setInterval(() => print('tick ' + n++ + '\\n'), 10);`;
  const grows = async (by = 1): Promise<void> => {
    const count = (): number => text().split('\n').length;
    const before = count();
    await until(() => count() >= before + by, { deadline: 30_000, what: 'more lines' });
  };

  test('are not part of the program, and end with it', async () => {
    const { pid } = await start(ticking);
    await grows();
    const found = writers();
    expect(found.length).toBeGreaterThan(0);
    for (const writer of found) expect(environmentOf(writer)).not.toContain('SWITCHYARD_COOKIE');
    process.kill(-pid, 'SIGKILL');
    await until(() => writers().length === 0, { deadline: 30_000, what: 'their end' });
    expect(text()).toMatch(/tick \d+\n$/);
  });

  test.each([0, 1, 2])('may lose one of them (%i) while the program runs and logs on', async (at) => {
    const { pid } = await start(ticking);
    await grows();
    // There is briefly one more whenever the last one is replaced.
    const three = await until(() => [writers()].find(({ length }) => length === 3), { deadline: 30_000 });
    const victim = three.sort((a, b) => a - b)[at]!;
    endProcess(victim);
    await until(() => !isAlive(victim));
    // More output than an abandoned process would read before it ends.
    await grows(200);
    expect(isAlive(pid)).toBe(true);
  });

  test('are started again without any loss when all of them were killed', async () => {
    const { pid } = await start(ticking);
    await grows();
    await until(() => {
      const left = writers();
      for (const writer of left) endProcess(writer);
      return left.length === 0;
    });
    expect(writtenLogs()).not.toContain(logFile);
    expect(isAlive(pid)).toBe(true);
    expect(await reviveLogWriter(pid, { logFile, limit: { earlierLog, bytes: LIMIT } })).toBe(true);
    await grows();
    expect(writtenLogs()).toContain(logFile);
    expect(isAlive(pid)).toBe(true);
    expect(await reviveLogWriter(process.pid, { logFile, limit: { earlierLog, bytes: LIMIT } })).toBe(false);
  });
});
