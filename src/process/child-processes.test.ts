import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  carriersOf,
  environmentOf,
  holdsWithin,
  isAlive,
  readyShape,
  shapeArgs,
  SHAPES,
} from '../../test/servers/shapes/watch.ts';
import { until } from '../../test/helpers/until.ts';
import { silentLogger } from '../shared/log.ts';
import { cgroupDirectory } from './cgroup.ts';
import type { SpawnOptions } from './spawnable.ts';
import { createChildProcesses, type Child, type ChildEnd, type ChildProcesses } from './index.ts';

/** Sends SIGTERM immediately, for tests that are not about timing. */
const SWIFT = { term: 0, kill: 400 };
const env = process.env as Record<string, string>;

const inCgroups = cgroupDirectory() !== undefined;

/** By default without cgroups: everything must be found without them too. */
function createChildren(cgroups = false): ChildProcesses {
  const made = createChildProcesses({ log: silentLogger, cgroups });
  onTestFinished(() => made.killAllNow());
  return made;
}

function node(args: readonly string[], more: Partial<SpawnOptions> = {}): SpawnOptions {
  return { name: 'server', command: process.execPath, args, cwd: process.cwd(), env, ...more };
}

function exitOf(child: Child): Promise<ChildEnd> {
  return new Promise((resolve) => child.onExit(resolve));
}

describe.runIf(process.platform === 'linux')('stop ends all of', { concurrent: true }, () => {
  test.for([...SHAPES, 'forks-on-term', 'scrubs-environment', 'own-environment'])(
    '%s',
    async (shape, { onTestFinished: after, expect: check }) => {
      const mark = `SHAPE_MARK=${randomUUID()}`;
      const made = createChildProcesses({ log: silentLogger, cgroups: false });
      after(() => made.killAllNow());
      const [name, value] = mark.split('=') as [string, string];
      const child = made.spawn(node(shapeArgs(shape), { env: { ...env, [name]: value } }));
      const ready = await readyShape(child.stderr);
      check(carriersOf(mark).length).toBeGreaterThan(0);

      const report = await child.stop(SWIFT);
      check(report.kind).toBe('gone');
      check(carriersOf(mark)).toEqual([]);
      check(ready.filter(({ pid }) => isAlive(pid))).toEqual([]);
      check(child.state.kind).toBe('exited');
      check(made.size).toBe(0);
      await made.stopAll();
    },
  );
});

/** Windows has no SIGTERM; test/windows tests how processes are ended there. */
const windows = process.platform === 'win32';

describe.skipIf(windows)('the stages', { concurrent: true }, () => {
  const endsWithStdin = `process.stdin.on('end', () => process.exit(7)).resume(); console.error('ready leaf ' + process.pid)`;

  test('a server that ends when stdin closes gets no signal', async ({ expect: check }) => {
    const made = createChildProcesses({ log: silentLogger });
    const child = made.spawn(node(['-e', endsWithStdin]));
    await readyShape(child.stderr);
    check(await child.stop()).toMatchObject({ kind: 'gone', by: 'stdin' });
    check(child.state).toMatchObject({ kind: 'exited', code: 7, signal: null });
    await made.stopAll();
  });

  test('a server that ignores SIGTERM gets it at 2 s and is killed at 5 s', async ({ expect: check }) => {
    const made = createChildProcesses({ log: silentLogger });
    const hears = `process.on('SIGTERM', () => console.log('term')); setInterval(() => {}, 1e6); console.error('ready leaf 1')`;
    const child = made.spawn(node(['-e', hears]));
    await readyShape(child.stderr);
    const began = performance.now();
    let heard = 0;
    child.stdout.on('data', () => (heard = performance.now() - began));
    check(await child.stop()).toMatchObject({ kind: 'gone', by: 'kill' });
    const took = performance.now() - began;
    check(heard).toBeGreaterThanOrEqual(2000);
    check(heard).toBeLessThan(4000);
    check(took).toBeGreaterThanOrEqual(5000);
    check(took).toBeLessThan(6000);
    check(child.state).toMatchObject({ kind: 'exited', signal: 'SIGKILL' });
    await made.stopAll();
  });

  test('a second, more urgent stop hurries the first', async ({ expect: check }) => {
    const made = createChildProcesses({ log: silentLogger });
    const child = made.spawn(node(shapeArgs('ignores-term')));
    await readyShape(child.stderr);
    const patient = child.stop({ term: 60_000, kill: 120_000 });
    check(await child.stop({ term: 0, kill: 50 })).toMatchObject({ kind: 'gone', by: 'kill' });
    check((await patient).kind).toBe('gone');
    await made.stopAll();
  });

  test('a server that never reads its input can be stopped too', async ({ expect: check }) => {
    const made = createChildProcesses({ log: silentLogger });
    const child = made.spawn(node(shapeArgs('plain')));
    await readyShape(child.stderr);
    child.stdin.write('x'.repeat(4 * 1024 * 1024));
    check(await child.stop({ term: 100, kill: 2000 })).toMatchObject({ kind: 'gone', by: 'term' });
    await made.stopAll();
  });
});

describe('a child', () => {
  test.skipIf(windows)(
    'whose root exited is reported immediately, still counted, and can still be stopped',
    async () => {
      const made = createChildren();
      const child = made.spawn(node(shapeArgs('leader-exits')));
      const end = exitOf(child);
      const leaf = (await readyShape(child.stderr)).find(({ role }) => role === 'leaf')!;
      expect(await end).toMatchObject({ kind: 'exited', code: 0 });
      expect(isAlive(leaf.pid)).toBe(true);
      expect(made.size).toBe(1);
      expect((await child.stop(SWIFT)).kind).toBe('gone');
      expect(isAlive(leaf.pid)).toBe(false);
    },
  );

  test.runIf(process.platform === 'linux')(
    'whose root exited before anybody looked leaves nothing in its session, whatever its environment',
    async () => {
      const made = createChildren();
      const helper = 'env -i sleep 600 & echo "ready leaf $!" >&2';
      const child = made.spawn(node(['-c', helper], { command: '/bin/sh' }));
      const end = exitOf(child);
      const leaf = (await readyShape(child.stderr))[0]!;
      await end;
      expect(made.size).toBe(1);
      expect((await child.stop(SWIFT)).kind).toBe('gone');
      expect(isAlive(leaf.pid)).toBe(false);
    },
  );

  test.runIf(process.platform === 'linux')(
    'spares what the records of Switchyard prove, and nothing that only says so',
    async () => {
      const home = mkdtempSync(join(tmpdir(), 'switchyard é '));
      onTestFinished(() => rmSync(home, { recursive: true }));
      const recorded = `${'a'.repeat(8)}.${'b'.repeat(32)}`;
      writeFileSync(join(home, 'state.json'), JSON.stringify({ version: 1, cookie: recorded }));
      const helper = (cookie: string): string =>
        `env -i SWITCHYARD_HOME='${home}' SWITCHYARD_COOKIE=${cookie} sleep 600 & echo "ready $! $!" >&2`;
      const forged = recorded.replace('b', 'c');
      const script = [recorded, forged, 'version'].map(helper).join('\n');
      const child = createChildren().spawn(
        node(['-c', `${script}\necho "ready leaf $$" >&2; sleep 600`], { command: '/bin/sh' }),
      );
      const [service = 0, ...others] = (await readyShape(child.stderr)).map(({ pid }) => pid);
      onTestFinished(() => {
        if (isAlive(service)) process.kill(service, 'SIGKILL');
      });
      // A process that has just been forked still has the environment of the server.
      await until(() => environmentOf(service).includes(recorded), { what: 'the service' });
      await child.stop(SWIFT);
      expect(others.filter(isAlive)).toEqual([]);
      expect(isAlive(service)).toBe(true);
    },
  );

  // Repeated ten times: what a server starts first must be in its cgroup as reliably as what it starts later.
  test.runIf(inCgroups).each(Array.from({ length: 10 }, (_, index) => [index + 1]))(
    'cannot leave its cgroup: what leaves its session and environment at once ends with it (%i of 10)',
    async () => {
      const made = createChildren(true);
      const escape = `setsid env -i /bin/sh -c 'echo "ready leaf $$" >&2; exec sleep 600' &`;
      const child = made.spawn(node(['-c', escape], { command: '/bin/sh', env: { PATH: env['PATH']! } }));
      const end = exitOf(child);
      const leaf = (await readyShape(child.stderr))[0]!;
      onTestFinished(() => {
        if (isAlive(leaf.pid)) process.kill(leaf.pid, 'SIGKILL');
      });
      await end;
      expect(isAlive(leaf.pid)).toBe(true);
      expect((await child.stop(SWIFT)).kind).toBe('gone');
      expect(isAlive(leaf.pid)).toBe(false);
    },
  );

  test.runIf(inCgroups)('gets its command, arguments and environment unchanged in a cgroup too', async () => {
    const given = { PATH: env['PATH']!, PWD: '/elsewhere', ODD: 'a "b" $c\n', _: 'mine', EMPTY: '' };
    const print = 'console.error(JSON.stringify([process.env, process.argv.slice(1), process.pid]))';
    const odd = { 'not.for-a-shell': 'kept', IFS: 'x' };
    for (const more of [{}, odd]) {
      const sent = { ...given, ...more };
      const made = createChildren(true);
      const child = made.spawn(
        node(['-e', print, '', 'a b', '$HOME', "it's"], { command: 'node', env: sent }),
      );
      let text = '';
      child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await exitOf(child);
      const [got, args, pid] = JSON.parse(text) as [Record<string, string>, string[], number];
      const ours = Object.fromEntries(
        Object.entries(got).filter(([name]) => !name.startsWith('SWITCHBOARD_RUN_')),
      );
      expect(ours).toEqual(sent);
      expect(args).toEqual(['', 'a b', '$HOME', "it's"]);
      expect(pid).toBe(child.pid);
    }
  });

  test('that exited on its own is forgotten, and stopping it again does nothing', async () => {
    const made = createChildren();
    const child = made.spawn(node(['-e', 'process.exitCode = 3']));
    expect(await exitOf(child)).toMatchObject({ kind: 'exited', code: 3, signal: null });
    expect(await holdsWithin(windows ? 20_000 : 2000, () => made.size === 0)).toBe(true);
    expect(await child.stop()).toEqual({ kind: 'gone', by: 'nothing', milliseconds: 0 });
  });

  test('is read to the end before its exit is reported', async () => {
    const child = createChildren().spawn(node(['-e', `process.stdout.write('x'.repeat(300000) + 'last')`]));
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await exitOf(child);
    expect(text.endsWith('last')).toBe(true);
  });

  test('reports its exit once to each listener, also to a late one, but not to a removed one', async () => {
    const child = createChildren().spawn(node(['-e', '0']));
    const calls: string[] = [];
    child.onExit(() => calls.push('early'));
    child.onExit(() => calls.push('taken back'))();
    await exitOf(child);
    await exitOf(child);
    expect(calls).toEqual(['early']);
  });

  test('that is gone can be written to safely', async () => {
    const child = createChildren().spawn(node(['-e', '0']));
    await exitOf(child);
    for (let i = 0; i < 3; i++) child.stdin.write('anybody there?\n');
    await holdsWithin(100, () => false);
    expect(child.state.kind).toBe('exited');
  });

  test.skipIf(windows)(
    'gets exactly the given environment, plus the cookies of the runs it belongs to',
    async () => {
      process.env['SWITCHBOARD_RUN_00000000000outer'] = 'kept';
      onTestFinished(() => {
        delete process.env['SWITCHBOARD_RUN_00000000000outer'];
      });
      const child = createChildren().spawn(node(shapeArgs('plain'), { env: { ONLY: 'this' } }));
      await readyShape(child.stderr);
      const names = environmentOf(child.pid!)
        .split('\0')
        .filter((text) => text !== '');
      expect(names).toHaveLength(3);
      expect(names).toEqual(
        expect.arrayContaining([
          'ONLY=this',
          'SWITCHBOARD_RUN_00000000000outer=kept',
          expect.stringMatching(/^SWITCHBOARD_RUN_[0-9a-f]{16}=[0-9a-f]{16}$/),
        ]),
      );
    },
  );
});

describe('all children', () => {
  test.skipIf(windows)('stops all its children in parallel and accepts no more', async () => {
    const made = createChildren();
    const children = ['plain', 'setsid', 'ignores-term'].map((shape) => made.spawn(node(shapeArgs(shape))));
    const ready = (await Promise.all(children.map((child) => readyShape(child.stderr)))).flat();
    expect(made.size).toBe(3);
    const report = await made.stopAll(SWIFT);
    expect(report).toMatchObject({ kind: 'gone', by: 'kill' });
    expect(report.milliseconds).toBeLessThan(3000);
    expect(ready.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(made.size).toBe(0);
    const late = made.spawn(node(['-e', '0']));
    expect(await exitOf(late)).toMatchObject({ kind: 'failed', error: { code: 'SHUTTING_DOWN' } });
  });

  test('without children stops immediately', async () => {
    expect(await createChildren().stopAll()).toMatchObject({ kind: 'gone', by: 'nothing' });
  });
});

describe.each(inCgroups ? [false, true] : [false])(
  'a program that cannot be started (cgroups: %s)',
  (cgroups) => {
    let folder = '';
    beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'switchboard-spawn-'))));
    afterAll(() => rmSync(folder, { recursive: true }));

    const file = (name: string, text: string, mode: number): string => {
      const path = join(folder, name);
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    };
    const failure = async (options: Partial<SpawnOptions>) => {
      const made = createChildren(cgroups);
      const child = made.spawn(node([], { name: 'gi\u001bthub', ...options }));
      expect(child.pid).toBeUndefined();
      expect(child.state.kind).toBe('failed');
      const end = await exitOf(child);
      expect(child.state).toBe(end);
      expect(made.size).toBe(0);
      expect((await child.stop()).kind).toBe('gone');
      child.stdin.write('nobody reads this');
      if (end.kind !== 'failed') throw new Error('it was started');
      expect(end.error.message).toMatch(/^"gi\\x1bthub" could not be started: /);
      expect(end.error.hint).toBeDefined();
      return end.error;
    };

    test('because the command does not exist', async () => {
      expect(await failure({ command: 'no-such-command-here' })).toMatchObject({ code: 'COMMAND_NOT_FOUND' });
      expect(await failure({ command: './missing' })).toMatchObject({ code: 'COMMAND_NOT_FOUND' });
    });

    test('because only the working directory has it, which an empty element of PATH would mean', async () => {
      file('only-here', '#!/bin/sh\n', 0o755);
      for (const PATH of ['/nowhere:', ':/nowhere', '']) {
        const error = await failure({ command: 'only-here', cwd: folder, env: { PATH } });
        expect(error.code).toBe('COMMAND_NOT_FOUND');
      }
    });

    test('because its working directory does not exist or is not a directory', async () => {
      const missing = await failure({ cwd: join(folder, 'missing') });
      expect(missing).toMatchObject({
        code: 'CWD_NOT_USABLE',
        message: expect.stringContaining('does not exist'),
      });
      const none = await failure({ cwd: file('a-file', '', 0o644) });
      expect(none).toMatchObject({
        code: 'CWD_NOT_USABLE',
        message: expect.stringContaining('not a directory'),
      });
    });

    test.skipIf(windows)('because the file is not executable', async () => {
      const error = await failure({ command: file('plain.txt', 'text', 0o644) });
      expect(error).toMatchObject({
        code: 'COMMAND_NOT_EXECUTABLE',
        message: expect.stringContaining('EACCES'),
      });
    });

    test.skipIf(windows)('because its interpreter is missing', async () => {
      const command = file('script', '#!/no/such/interpreter\n', 0o755);
      expect(await failure({ command })).toMatchObject({ code: 'COMMAND_NOT_RUNNABLE' });
    });

    test('because its arguments are too long or broken, without showing them', async () => {
      const long = await failure({ args: Array.from({ length: 200 }, () => 'secret'.repeat(20_000)) });
      expect(long.code).toBe('ARGUMENTS_TOO_LONG');
      expect(long.explained).not.toContain('secret');
      expect(await failure({ args: ['a\0b'] })).toMatchObject({ code: 'COMMAND_NOT_RUNNABLE' });
    });
  },
);
