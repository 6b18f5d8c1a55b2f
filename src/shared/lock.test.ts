import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { holdsWithin } from '../../test/servers/shapes/watch.ts';
import { startDetached } from '../process/index.ts';
import { withLock, type LockHolder } from './lock.ts';

let folder = '';
let program = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-lock-'));
  program = join(folder, 'locker.mjs');
  buildSync({
    stdin: {
      contents: `
        import { readFileSync, writeFileSync } from 'node:fs';
        import { withLock } from './lock.ts';
        const [verb, name, platform, file, times] = process.argv.slice(2);
        if (verb === 'count') {
          for (let i = 0; i < Number(times); i++) {
            await withLock(name, async () => {
              const count = Number(readFileSync(file, 'utf8'));
              await new Promise((resume) => setImmediate(resume));
              writeFileSync(file, String(count + 1));
            }, { platform, timeoutMs: 100_000 });
          }
        } else {
          await withLock(name, () => {
            console.log('held');
            return verb === 'forget' ? new Promise(() => {}) : new Promise((done) => process.stdin.once('data', done));
          }, { what: 'up feature-x', platform });
          process.stdin.destroy();
        }
        console.log('done');`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      loader: 'ts',
    },
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

function locker(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function holder(name: string, platform: string): Promise<ChildProcess> {
  const child = locker('hold', name, platform);
  for await (const line of createInterface(child.stdout!)) if (line === 'held') return child;
  throw new Error('it ended without the lock');
}

/** The platforms whose kind of lock is tested. */
const platforms = process.platform === 'linux' ? (['linux', 'darwin'] as const) : [process.platform];

describe.each(platforms)('a lock as on %s', (platform) => {
  const named = (): string => `test-${randomUUID()}`;

  test('runs the work of one process one after the other, in the order of the calls', async () => {
    const name = named();
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        withLock(
          name,
          async () => {
            expect(++inside).toBe(1);
            await new Promise((resume) => setImmediate(resume));
            inside -= 1;
            order.push(i);
          },
          { platform },
        ),
      ),
    );
    expect(order).toEqual(Array.from({ length: 30 }, (_, i) => i));
  });

  test('does not wait for itself if two names share an address', { timeout: 60_000 }, async () => {
    const portOf = (name: string): number => {
      const whole = `switchyard-${process.getuid?.() ?? ''}-${name}`;
      return createHash('sha256').update(whole).digest().readUInt32BE(0) % 10_000;
    };
    const seen = new Map<number, string>();
    const inner = Array.from({ length: 10_001 }, named).find((name) => {
      const isFirst = !seen.has(portOf(name));
      if (isFirst) seen.set(portOf(name), name);
      return !isFirst;
    })!;
    const outer = seen.get(portOf(inner))!;
    const options = { platform, timeoutMs: 20_000 };
    const nested = (): Promise<string> => withLock(inner, () => 'done', options);
    expect(await withLock(outer, nested, options)).toBe('done');
    expect(await withLock(inner, () => 'again', options)).toBe('again');
  });

  test('loses nothing when 20 processes count in one file', { timeout: 120_000 }, async () => {
    const name = named();
    const file = join(folder, name);
    writeFileSync(file, '0');
    const counters = Array.from({ length: 20 }, () => locker('count', name, platform, file, '25'));
    const ends = await Promise.all(counters.map((child) => once(child, 'exit') as Promise<[number]>));
    expect(ends.map(([code]) => code)).toEqual(counters.map(() => 0));
    expect(readFileSync(file, 'utf8')).toBe('500');
  });

  test('is released after work that failed, and returns the result of the work', async () => {
    const name = named();
    const failing = (): Promise<never> => Promise.reject(new Error('no luck'));
    await expect(withLock(name, failing, { platform })).rejects.toThrow('no luck');
    expect(await withLock(name, () => 'done', { platform })).toBe('done');
  });

  test('reports the pid and work of the holder to waiters, and is handed over afterwards', async () => {
    const name = named();
    const child = await holder(name, platform);
    const told: LockHolder[] = [];
    const waiting = withLock(name, () => 'done', { platform, onWait: (who) => told.push(who) });
    expect(await holdsWithin(20_000, () => told.length > 0)).toBe(true);
    expect(told).toEqual([{ pid: child.pid, what: 'up feature-x' }]);
    child.stdin!.write('go on\n');
    expect(await waiting).toBe('done');
  });

  test('is released immediately when its holder is killed', async () => {
    const name = named();
    const child = await holder(name, platform);
    let told = false;
    const waiting = withLock(name, () => performance.now(), { platform, onWait: () => (told = true) });
    expect(await holdsWithin(20_000, () => told)).toBe(true);
    const killed = performance.now();
    child.kill('SIGKILL');
    expect((await waiting) - killed).toBeLessThan(5000);
  });

  test('is not waited for longer than the timeout, and the error names the holder', async () => {
    const name = named();
    const child = await holder(name, platform);
    await expect(withLock(name, () => 'done', { platform, timeoutMs: 2000 })).rejects.toMatchObject({
      code: 'LOCK_BUSY',
      message: expect.stringMatching(new RegExp(`^Process ${child.pid} \\(up feature-x\\) .*2000 ms`)),
    });
    // Nor by those who wait for others in the same process.
    const own = named();
    await withLock(
      own,
      () =>
        expect(withLock(own, () => 'never', { platform, timeoutMs: 50 })).rejects.toMatchObject({
          code: 'LOCK_BUSY',
          message: expect.stringContaining(`${process.pid} (restart main)`),
        }),
      { platform, what: 'restart main' },
    );
    expect(await withLock(own, () => 'done', { platform })).toBe('done');
  });

  test('is not taken by a waiter that gives up, and others keep waiting', async () => {
    const name = named();
    const child = await holder(name, platform);
    const caller = new AbortController();
    const refused = [1, 2].map(() =>
      expect(withLock(name, () => 'never', { platform, signal: caller.signal })).rejects.toMatchObject({
        code: 'STOPPED',
      }),
    );
    let told = false;
    const patient = withLock(name, () => 'done', { platform, onWait: () => (told = true) });
    caller.abort();
    await Promise.all(refused);
    await expect(withLock(name, () => 'never', { platform, signal: caller.signal })).rejects.toMatchObject({
      code: 'STOPPED',
    });
    expect(await holdsWithin(20_000, () => told)).toBe(true);
    child.stdin!.write('go on\n');
    expect(await patient).toBe('done');
  });

  test('does not keep a program alive that has nothing else to do', async () => {
    const child = locker('forget', named(), platform);
    // 13 means that a promise was never settled.
    expect(await once(child, 'exit')).toEqual([13, null]);
  });

  test.skipIf(process.platform === 'win32')('is not inherited by programs started under it', async () => {
    const name = named();
    const { pid } = await withLock(
      name,
      () =>
        startDetached({
          name: 'web',
          command: 'sleep',
          args: ['60'],
          cwd: folder,
          env: { PATH: process.env['PATH'] ?? '' },
          logFile: join(folder, 'web.log'),
        }),
      { platform },
    );
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect(await withLock(name, () => 'done', { platform, timeoutMs: 5000 })).toBe('done');
  });

  test('accepts names of any length and characters, and distinguishes them', async () => {
    const name = `tést ${randomUUID().repeat(10)}`;
    const both = await withLock(
      `${name}a`,
      () => withLock(`${name}b`, () => 'both', { platform, timeoutMs: 5000 }),
      { platform },
    );
    expect(both).toBe('both');
  });
});
