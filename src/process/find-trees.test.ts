import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { carriersOf, holdsWithin, isAlive, shapeArgs, SHAPES } from '../../test/servers/shapes/watch.ts';
import { startDetached, type Detached } from './detached.ts';
import { readStat, type ProcessIdentity } from './process-identity.ts';
import { createTreeFinder } from './find-trees.ts';
import type { TreeIdentity } from './process-tree.ts';

const COOKIE = 'MARKED_TEST_COOKIE';
const RUN = randomUUID();
const env = { PATH: process.env['PATH'] ?? '' };

let folder = '';
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'switchyard-trees-'))));
afterAll(() => {
  for (const pid of carriersOf(`${COOKIE}=${RUN}`)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Started extends TreeIdentity {
  readonly name: string;
  readonly root: ProcessIdentity;
  readonly cookie: string;
  /** The processes that reported until the shape was complete. */
  readonly pids: readonly number[];
  readonly exited: Detached['exited'];
}

/** Starts a shape the way a service is started: detached, with a cookie and an exit file. */
async function shape(name: string): Promise<Started> {
  const cookie = `${RUN}.${randomUUID()}`;
  const logFile = join(folder, `${cookie}.log`);
  const { exited, ...root } = await startDetached({
    name,
    command: process.execPath,
    args: shapeArgs(name),
    cwd: folder,
    env: { ...env, [COOKIE]: cookie },
    logFile,
    exitFile: join(folder, `${cookie}.exit`),
  });
  const ready = (): RegExpMatchArray[] => [
    ...readFileSync(logFile, 'utf8').matchAll(/^ready (\S+) (\d+)\n/gm),
  ];
  expect(await holdsWithin(20_000, () => ready().some(([, role]) => role === 'leaf'))).toBe(true);
  return { name, root, cookie, pids: ready().map(([, , pid]) => Number(pid)), exited };
}

describe.runIf(process.platform === 'linux')('of every shape', () => {
  test('all are found and ended, including those that ignore SIGTERM or replace themselves', async () => {
    const started = await Promise.all(
      [...SHAPES, 'forks-on-term', 'scrubs-environment'].map((name) => shape(name)),
    );
    const processes = createTreeFinder(COOKIE);
    for (const snapshot of [processes.look(), processes.look(started)]) {
      for (const target of started) {
        const seen = snapshot.membersOf(target).map(({ pid }) => pid);
        // Some of the reported processes have exited intentionally.
        expect(seen, target.name).toEqual(expect.arrayContaining(target.pids.filter(isAlive)));
        expect(snapshot.carriers().has(target.cookie)).toBe(true);
      }
    }
    const reports = await processes.stop(started, { kill: 3000 });
    for (const [at, { name }] of started.entries()) expect(reports[at], name).toMatchObject({ kind: 'gone' });
    expect(reports[started.findIndex(({ name }) => name === 'plain')]).toMatchObject({ by: 'term' });
    expect(reports[started.findIndex(({ name }) => name === 'ignores-term')]).toMatchObject({ by: 'kill' });
    expect(started.flatMap(({ pids }) => pids).filter(isAlive)).toEqual([]);
    expect(carriersOf(`${COOKIE}=${RUN}`)).toEqual([]);
    for (const target of started) expect(processes.look().membersOf(target)).toEqual([]);
  });

  test.for(SHAPES.filter((name) => name !== 'ignores-term'))(
    'all of %s are found and ended by the cookie alone',
    async (name) => {
      const { cookie, pids } = await shape(name);
      const processes = createTreeFinder(COOKIE);
      const target = { name, root: undefined, cookie };
      const seen = processes.look([target]).membersOf(target);
      expect(seen.map(({ pid }) => pid)).toEqual(expect.arrayContaining(pids.filter(isAlive)));
      expect(processes.look().carriers().get(cookie)).toEqual(seen);
      expect(await processes.stop([target])).toMatchObject([{ kind: 'gone', by: 'term' }]);
      expect(pids.filter(isAlive)).toEqual([]);
    },
  );
});

describe.runIf(process.platform === 'linux')('nobody else is touched:', () => {
  test('not a process with the pid of a root but another start time', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
    onTestFinished(() => void child.kill('SIGKILL'));
    const { startTime } = readStat(child.pid!)!;
    const processes = createTreeFinder(COOKIE);
    for (const wrong of [1, startTime - 1, startTime + 1]) {
      for (const cookie of [undefined, `${RUN}.nobody`]) {
        const target = { name: 'stale', root: { pid: child.pid!, startTime: wrong }, cookie };
        expect(processes.look().membersOf(target)).toEqual([]);
        expect(await processes.stop([target], { kill: 0 })).toMatchObject([{ kind: 'gone', by: 'nothing' }]);
      }
    }
    expect(isAlive(child.pid!)).toBe(true);
  });

  test('not a carrier of another cookie, even if it was started from within', async () => {
    const [outer, inner] = [`${RUN}.${randomUUID()}`, `${RUN}.${randomUUID()}`];
    const logFile = join(folder, `${outer}.log`);
    const { exited, ...root } = await startDetached({
      name: 'outer',
      command: '/bin/sh',
      args: ['-c', `${COOKIE}=$1 sleep 60 & sleep 60 & echo started; wait`, 'sh', inner],
      cwd: folder,
      env: { ...env, [COOKIE]: outer },
      logFile,
    });
    const processes = createTreeFinder(COOKIE);
    const pidsOf = (cookie: string): number[] =>
      (processes.look().carriers().get(cookie) ?? []).map(({ pid }) => pid);
    expect(await holdsWithin(20_000, () => pidsOf(inner).length === 1 && pidsOf(outer).length === 2)).toBe(
      true,
    );
    const [own, others] = [pidsOf(outer), pidsOf(inner)];
    const target = { name: 'outer', root, cookie: outer };
    expect(
      processes
        .look()
        .membersOf(target)
        .map(({ pid }) => pid),
    ).toEqual(own);
    expect(await processes.stop([target])).toMatchObject([{ kind: 'gone' }]);
    await exited;
    expect(own.filter(isAlive)).toEqual([]);
    expect(others.filter(isAlive)).toEqual(others);
  });

  test('not ourselves, and no process for a target without root and cookie', async () => {
    const processes = createTreeFinder(COOKIE);
    const root = readStat(process.pid);
    const members = processes.look().membersOf({ root, cookie: undefined });
    expect(members.map(({ pid }) => pid)).not.toContain(process.pid);
    const nobody = { name: 'nobody', root: undefined, cookie: undefined };
    expect(processes.look().membersOf(nobody)).toEqual([]);
    expect(await processes.stop([nobody], { kill: 0 })).toMatchObject([{ kind: 'gone', by: 'nothing' }]);
    expect(await processes.stop([])).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('stop', () => {
  test('considers children of this process dead when they are, reaped or not', async () => {
    const { exited, ...target } = await shape('plain');
    const processes = createTreeFinder(COOKIE);
    const [report] = await processes.stop([target], { kill: 20_000 });
    expect(report).toMatchObject({ kind: 'gone', by: 'term' });
    expect(report!.milliseconds).toBeLessThan(15_000);
    expect(await exited).toMatchObject({ code: 143 });
  });

  test('reports in the order of the targets, including those already gone', async () => {
    const stubborn = await shape('ignores-term');
    const plain = await shape('plain');
    const processes = createTreeFinder(COOKIE);
    await processes.stop([plain]);
    const obedient = await shape('plain');
    expect(await processes.stop([stubborn, plain, obedient], { kill: 2000 })).toMatchObject([
      { kind: 'gone', by: 'kill' },
      { kind: 'gone', by: 'nothing' },
      { kind: 'gone', by: 'term' },
    ]);
  });
});
