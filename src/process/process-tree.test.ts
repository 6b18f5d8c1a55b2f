import { describe, expect, test } from 'vitest';
import type { RunningProcess } from './process-list.ts';
import { ANY_COOKIE, createProcessTree, treeMembers, type ProcessTree } from './process-tree.ts';

const root = { pid: 100, startTime: 1000 };
const nobody = new Set<number>();

function living(pid: number, fields: Partial<RunningProcess> = {}): RunningProcess {
  return { pid, parent: 1, session: pid, startTime: 1001, cookie: undefined, ...fields };
}

function pidsOf(tree: ProcessTree, all: readonly RunningProcess[], strangers = nobody): number[] {
  return treeMembers(tree, all, strangers).map(({ pid }) => pid);
}

const rootAlive = living(100, { startTime: 1000, cookie: 'ours' });

describe('members of a tree', () => {
  test('are the root, its session, the carriers of its cookie and their descendants, oldest first', () => {
    const all = [
      living(205, { parent: 203, startTime: 1009 }),
      living(203, { parent: 202, startTime: 1005 }),
      living(202, { cookie: 'ours', startTime: 1002 }),
      living(201, { session: 100 }),
      rootAlive,
      living(300),
      living(301, { cookie: 'of another child' }),
    ];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }), all)).toEqual([100, 201, 202, 203, 205]);
  });

  test('not processes that are meant to outlive their parent, nor their descendants', () => {
    const all = [
      rootAlive,
      living(201, { parent: 100 }),
      living(202, { parent: 201, outlives: true }),
      living(203, { parent: 202, outlives: true }),
      living(204, { session: 100, outlives: true }),
    ];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }), all)).toEqual([100, 201]);
  });

  test('none, if only an unrelated process with the pid of the root is left', () => {
    const all = [
      living(100, { startTime: 2000 }),
      living(101, { session: 100, parent: 100, startTime: 2001 }),
    ];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }), all)).toEqual([]);
  });

  test('none, if an unrelated session reused our session id and lost its root too', () => {
    expect(
      pidsOf(createProcessTree({ root, cookie: 'ours' }), [living(101, { session: 100, startTime: 2001 })]),
    ).toEqual([]);
  });

  test('the whole session without its root, while one process carries the cookie', () => {
    const all = [living(101, { session: 100, cookie: 'ours' }), living(102, { session: 100 })];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }), all)).toEqual([101, 102]);
  });

  test('the whole session without its root, while one process was seen before', () => {
    const tree = createProcessTree({ root, cookie: 'ours' });
    tree.known.set(101, 1001);
    const all = [living(101, { session: 100 }), living(102, { session: 100 })];
    expect(pidsOf(tree, all)).toEqual([101, 102]);
  });

  test('the whole session without its root, whatever it carries, of a tree that was watched', () => {
    const all = [
      living(101, { session: 100 }),
      living(102, { session: 100, cookie: 'of another tree' }),
      living(103, { session: 300 }),
    ];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }, true), all)).toEqual([101]);
  });

  test('none of a session whose id another process has taken, even if the tree was watched', () => {
    const all = [living(100, { startTime: 2000 }), living(101, { session: 100, startTime: 2001 })];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }, true), all)).toEqual([]);
  });

  test('not one seen before whose pid now belongs to another process', () => {
    const tree = createProcessTree({ root, cookie: 'ours' });
    tree.known.set(101, 1001);
    expect(pidsOf(tree, [living(101, { startTime: 1002 })])).toEqual([]);
  });

  test('none older than the root, whatever its cookie and session', () => {
    const all = [
      rootAlive,
      living(90, { session: 100, startTime: 999 }),
      living(91, { cookie: 'ours', startTime: 999 }),
      living(92, { parent: 100, startTime: 999 }),
    ];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }), all)).toEqual([100]);
  });

  test('never strangers, nor their descendants', () => {
    const all = [rootAlive, living(7, { cookie: 'ours' }), living(8, { parent: 7 })];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }), all, new Set([7]))).toEqual([100]);
  });

  test('not a carrier of another cookie, even if it is a child, in the session, or the root itself', () => {
    const all = [
      rootAlive,
      living(201, { parent: 100, cookie: 'of another tree' }),
      living(202, { parent: 201, session: 201, cookie: 'of another tree' }),
      living(203, { session: 100, cookie: 'of another tree' }),
    ];
    expect(pidsOf(createProcessTree({ root, cookie: 'ours' }), all)).toEqual([100]);
    expect(pidsOf(createProcessTree({ root, cookie: 'no longer its own' }), [rootAlive])).toEqual([]);
  });

  test('for the tree without root: every process with any cookie of the run', () => {
    const all = [
      living(5),
      living(6, { cookie: 'a' }),
      living(7, { cookie: 'b' }),
      living(8, { session: 0 }),
    ];
    expect(pidsOf(createProcessTree({ root: undefined, cookie: ANY_COOKIE }), all)).toEqual([6, 7]);
  });
});
