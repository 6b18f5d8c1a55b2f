import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../shared/log.ts';
import { openStore, type Store } from '../store/index.ts';
import { NO_REDIS, StoreServer } from '../../test/helpers/store-server.ts';
import { until } from '../../test/helpers/until.ts';
import { Records } from './records.ts';

const NAME = 'words.json';
const form = ({ words }: Record<string, unknown>) =>
  Array.isArray(words) ? { words: words as string[] } : undefined;

interface Machine {
  readonly records: Records;
  readonly store: Store;
  readonly file: string;
  words(): readonly string[] | undefined;
  add(word: string): Promise<void>;
}

async function machine({ url }: StoreServer): Promise<Machine> {
  const directory = mkdtempSync(join(tmpdir(), 'records-'));
  const store = await openStore({ url, group: 'test', log: silentLogger });
  onTestFinished(() => {
    store.close();
    rmSync(directory, { recursive: true });
  });
  const records = new Records(directory, store);
  records.follow(NAME, form);
  return {
    ...{ records, store, file: join(directory, NAME) },
    words: () => records.read(NAME, form)?.words,
    add: (word) => records.change(NAME, form, (before) => ({ words: [...(before?.words ?? []), word] })),
  };
}

async function restart(server: StoreServer, machines: readonly Machine[]): Promise<void> {
  await server.stop();
  await until(() => machines.every(({ records }) => records.areAway));
  await server.start();
  await until(() => machines.every(({ records }) => !records.areAway));
}

describe.skipIf(NO_REDIS !== undefined)(`shared records${NO_REDIS ? ` (${NO_REDIS})` : ''}`, () => {
  test('are changed by several machines at once without a loss, and all get the same', async () => {
    const server = await StoreServer.start();
    const machines = await Promise.all([machine(server), machine(server), machine(server)]);
    const words = Array.from({ length: 24 }, (_, at) => `word ${at}`);
    await Promise.all(words.map((word, at) => machines[at % 3]!.add(word)));
    for (const each of machines) {
      await each.records.refresh();
      expect(new Set(each.words())).toEqual(new Set(words));
      expect(await each.records.refresh()).toEqual({ any: false });
    }
  });

  test('survive a store that has lost everything, by the newest copy that there is', async () => {
    const server = await StoreServer.start();
    const [one, other] = await Promise.all([machine(server), machine(server)]);
    await one.add('a');
    await other.records.refresh();
    await one.add('b');
    await restart(server, [one, other]);
    // The older copy comes back first.
    await other.records.refresh();
    expect(await other.store.get(`trust:${NAME}`)).not.toContain('"b"');
    await one.records.refresh();
    await other.records.refresh();
    expect([one.words(), other.words()]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  test('keep what there was before, where a machine that knows nothing begins anew meanwhile', async () => {
    const server = await StoreServer.start();
    const one = await machine(server);
    for (const word of ['a', 'b']) await one.add(word);
    await restart(server, [one]);
    const fresh = await machine(server);
    const adding = fresh.add('c');
    await one.records.refresh();
    // It waits for machines that know more.
    await adding;
    expect(fresh.words()).toEqual(['a', 'b', 'c']);
    // If they come too late, what it has created is discarded.
    await one.store.set(`trust:${NAME}`, `7 x ${Date.now()}\n{"version":1,"words":["new"]}`, 60_000);
    await fresh.records.refresh();
    await one.records.refresh();
    expect([one.words(), fresh.words()]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  test('are not changed while the store is away, and are read from the copy', async () => {
    const server = await StoreServer.start();
    const one = await machine(server);
    await one.add('a');
    await server.stop();
    await until(() => one.records.areAway);
    await expect(one.add('b')).rejects.toMatchObject({ code: 'STORE_AWAY' });
    await expect(one.records.refresh()).rejects.toMatchObject({ code: 'STORE_AWAY' });
    expect(one.words()).toEqual(['a']);
  });

  test('replace what a machine had by itself, unless the store has nothing', async () => {
    const server = await StoreServer.start();
    const [one, other] = await Promise.all([machine(server), machine(server)]);
    const own = (word: string): string => JSON.stringify({ version: 1, words: [word] });
    writeFileSync(one.file, own('first'), { mode: 0o600 });
    writeFileSync(other.file, own('second'), { mode: 0o600 });
    await one.records.refresh();
    await other.records.refresh();
    expect([one.words(), other.words()]).toEqual([['first'], ['first']]);
  });

  test('are not taken from a store or a copy that is damaged, and a copy that others can write is not touched', async () => {
    const server = await StoreServer.start();
    const [one, other] = await Promise.all([machine(server), machine(server)]);
    await one.add('a');
    await other.records.refresh();
    const good = (await one.store.get(`trust:${NAME}`))!;
    for (const bad of ['', '9', '9 x 9\n{}', '9 x 9\n{"version":1,"words":1}', `9${good.slice(0, -3)}`]) {
      await one.store.set(`trust:${NAME}`, bad, 60_000);
      expect(await one.records.refresh()).toMatchObject({ problem: { code: 'TRUST_UNREADABLE' } });
      await expect(one.add('b')).rejects.toMatchObject({ code: 'TRUST_UNREADABLE' });
      expect(one.words()).toEqual(['a']);
    }
    await one.store.set(`trust:${NAME}`, good, 60_000);
    writeFileSync(one.file, '{');
    await one.records.refresh();
    expect(one.words()).toEqual(['a']);
    await other.add('b');
    chmodSync(one.file, 0o666);
    const before = readFileSync(one.file, 'utf8');
    expect(await one.records.refresh()).toMatchObject({ problem: { code: 'TRUST_UNREADABLE' } });
    expect(readFileSync(one.file, 'utf8')).toBe(before);
    // A machine that has only a damaged copy does not share it.
    await other.store.delete(`trust:${NAME}`);
    writeFileSync(other.file, '{');
    expect(await other.records.refresh()).toMatchObject({ problem: { code: 'TRUST_UNREADABLE' } });
    expect(await other.store.get(`trust:${NAME}`)).toBeUndefined();
  });

  test('are only read where the store is not opened, and nothing of that spreads', async () => {
    const server = await StoreServer.start();
    const one = await machine(server);
    await one.add('a');
    const before = readFileSync(one.file, 'utf8');
    const unopened = new Records(one.records.directory, 'not opened');
    const add = (name: string) => unopened.change(name, form, () => ({ words: ['b'] }));
    await expect(add(NAME)).rejects.toMatchObject({ code: 'STORE_AWAY' });
    // Neither what the store has nothing of.
    await expect(add('more.json')).rejects.toThrow('this program does not open');
    expect(unopened.read(NAME, form)?.words).toEqual(['a']);
    expect(unopened.read('more.json', form)).toBeUndefined();
    expect(readFileSync(one.file, 'utf8')).toBe(before);
  });
});
