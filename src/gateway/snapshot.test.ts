import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { NameReservations } from './name-reservations.ts';
import { takeSnapshot, type Snapshot } from './snapshot.ts';

const MEGABYTE = 1024 * 1024;

/** What a client sees if the only tool has this description. */
function snapshotWith(description: string): Snapshot {
  const definition = (name: string): string => JSON.stringify({ name, description });
  const overall = [{ present: () => [{ names: ['tool'], definition, run: () => undefined }] }];
  const reservations = {
    tools: new NameReservations(),
    resources: new NameReservations(),
    resourceTemplates: new NameReservations(),
    prompts: new NameReservations(),
  };
  return takeSnapshot({ generation: 0, entries: [] }, overall, () => undefined, reservations);
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('equal lists of several snapshots are kept once', async () => {
  const before = heapUsed();
  const lists = Array.from({ length: 10 }, () => snapshotWith('x'.repeat(2 * MEGABYTE)).texts);
  expect(new Set(lists.map(({ tools }) => tools)).size).toBe(1);
  // A value that a WeakRef has returned stays alive until the turn ends.
  await new Promise(setImmediate);
  const kept = heapUsed() - before;
  expect(lists).toHaveLength(10);
  expect(kept).toBeLessThan(10 * MEGABYTE);
});

test('the lists of a snapshot go with it', async () => {
  const before = heapUsed();
  for (let round = 0; round < 10; round++) snapshotWith(`${round}`.repeat(2 * MEGABYTE));
  await new Promise(setImmediate);
  expect(heapUsed() - before).toBeLessThan(10 * MEGABYTE);
});
