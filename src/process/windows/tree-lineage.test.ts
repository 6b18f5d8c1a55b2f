import { expect, test } from 'vitest';
import type { TableEntry } from './process-table.ts';
import { followLineage, type Lineage } from './tree-lineage.ts';

const GATEWAY = 10;

/** A root with pid 100 that was started between 1000 and 1050. */
function rootOnly(): Map<number, Lineage> {
  return new Map([[100, { pid: 100, parent: GATEWAY, start: 1000, latest: 1050, gone: false }]]);
}

/** The members after reading a table with these rows: pid, parent, start. */
function look(lineage: Map<number, Lineage>, ...rows: readonly (readonly [number, number, number])[]) {
  return members(
    lineage,
    rows.map(([pid, parent, start]) => ({ pid, parent, start })),
  );
}

function members(lineage: Map<number, Lineage>, table: readonly TableEntry[], seen = new Map()): number[] {
  followLineage(lineage, table, seen);
  return [...lineage.values()].filter(({ gone }) => !gone).map(({ pid }) => pid);
}

test('descendants of any depth belong to the tree, in whatever order they are listed', () => {
  const rows = [
    [400, 300, 1300],
    [100, GATEWAY, 1020],
    [300, 200, 1200],
    [200, 100, 1100],
    [500, 1, 1200],
  ] as const;
  expect(look(rootOnly(), ...rows)).toEqual([100, 200, 300, 400]);
});

test('what a process started that is gone is found by what was seen before', () => {
  const lineage = rootOnly();
  look(lineage, [100, GATEWAY, 1020], [200, 100, 1100], [300, 200, 1200]);
  // The two processes between it and the root have ended, and so has the root.
  expect(look(lineage, [300, 200, 1200])).toEqual([300]);
  expect(look(lineage, [300, 200, 1200], [301, 300, 3500])).toEqual([300, 301]);
  expect(look(lineage, [301, 300, 3500])).toEqual([301]);
  expect(look(lineage)).toEqual([]);
});

test('what a root left that was never seen itself is found', () => {
  expect(look(rootOnly(), [200, 100, 1100])).toEqual([200]);
});

test('so is what a member started last, right before it ended', () => {
  const lineage = rootOnly();
  look(lineage, [100, GATEWAY, 1020], [200, 100, 1100]);
  expect(look(lineage, [100, GATEWAY, 1020], [300, 200, 2900])).toEqual([100, 300]);
});

test('a process older than its supposed parent is another one’s', () => {
  expect(look(rootOnly(), [100, GATEWAY, 1020], [200, 100, 900])).toEqual([100]);
});

test('a pid that is used again does not make its new owner a member', () => {
  const lineage = rootOnly();
  look(lineage, [100, GATEWAY, 1020], [200, 100, 1100]);
  // 100 and 200 have ended, and other processes have their pids, and children.
  expect(look(lineage, [100, 7, 2500], [200, 8, 2600], [300, 200, 2700], [301, 100, 2700])).toEqual([]);
});

test('a child of the earlier owner of a pid is told from one of the later owner', () => {
  const lineage = rootOnly();
  look(lineage, [100, GATEWAY, 1020], [200, 100, 1100]);
  const rows = [
    [200, 8, 2600],
    [300, 200, 2500],
    [301, 200, 2700],
  ] as const;
  expect(look(lineage, [100, GATEWAY, 1020], ...rows)).toEqual([100, 300]);
});

test('another process with the pid of the root is not the root', () => {
  expect(look(rootOnly(), [100, GATEWAY, 1900])).toEqual([]);
  expect(look(rootOnly(), [100, 77, 1020])).toEqual([]);
});

test('without times, a process is known by its parent too', () => {
  const lineage = rootOnly();
  const table = [
    { pid: 100, parent: GATEWAY, start: undefined },
    { pid: 200, parent: 100, start: undefined },
  ];
  const seen = new Map([
    [100, 1500],
    [200, 1500],
  ]);
  expect(members(lineage, table, seen)).toEqual([100, 200]);
  expect(members(lineage, [{ pid: 100, parent: 9, start: undefined }], seen)).toEqual([]);
});
