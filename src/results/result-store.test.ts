import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { ownIdentity } from '../process/index.ts';
import { createLogger } from '../shared/log.ts';
import type { KeptResult } from './kept-result.ts';
import { ResultStore, STORE_LIMITS, type StoreLimits } from './result-store.ts';

const FACTS = { lines: 1, items: [0], maxTokens: 1000, minify: false };
/** Puts everything on disk. */
const ON_DISK = { memoryBytes: 0 };

function open(limits: Partial<StoreLimits> = {}, directory = createProject({}).path('results')) {
  const logged: string[] = [];
  const log = createLogger({ level: 'debug', program: 't', write: (line) => void logged.push(line) });
  const store = new ResultStore(directory, log, { ...STORE_LIMITS, ...limits });
  const client = {};
  const add = (text: string, owner: object = client) => store.add(owner, text, FACTS, () => true);
  return { store, directory, logged, client, add };
}

async function textOf(kept: KeptResult | undefined): Promise<string | undefined> {
  if (kept === undefined) return undefined;
  const opened = await kept.open();
  const text = await opened.slice(0, kept.facts.length);
  await opened.close();
  return text;
}

function filesIn(directory: string): string[] {
  if (!fs.existsSync(directory)) return [];
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'owner.json')
    .map((entry) => join(entry.parentPath, entry.name));
}

describe.each([
  ['in memory', {}],
  ['on disk', ON_DISK],
])('%s', (_, limits) => {
  test.each(['plain', 'é\u00ff\0', '网关😀', '\ud800 \udfff\ude00', ''])(
    'every code unit of %j is kept',
    async (text) => {
      const { add } = open(limits);
      expect(await textOf(await add(text.repeat(300_000)))).toBe(text.repeat(300_000));
    },
  );

  test('a client finds only its own results', async () => {
    const { add, store, client } = open(limits);
    const kept = await add('mine');
    const id = kept!.id;
    expect(store.get(client, id)).toBe(kept);
    expect(store.get({}, id)).toBeUndefined();
    for (const guess of ['', '1', '..', '../1', 'constructor', '__proto__', `${id}/../${id}`])
      expect(store.get(client, guess)).toBeUndefined();
  });

  test('of 10,000 results, the newest are kept', async () => {
    const { add, store, client, directory } = open({ ...limits, clientResults: 50 });
    const kept = await Promise.all(Array.from({ length: 10_000 }, (__, at) => add(`result ${at}`)));
    const found = kept.filter((each) => store.get(client, each!.id) !== undefined);
    expect(found.length).toBe(50);
    await expect.poll(() => filesIn(directory).length).toBe(limits === ON_DISK ? 50 : 0);
  });

  test("a client's results are limited in bytes, and never displace those of another client", async () => {
    const { add, store, client } = open({ ...limits, clientBytes: 1000, totalBytes: 1200 });
    const other = {};
    const others = await add('x'.repeat(150), other);
    const first = await add('x'.repeat(600));
    const second = await add('x'.repeat(600));
    expect(store.get(client, first!.id)).toBeUndefined();
    expect(await textOf(store.get(client, second!.id))).toHaveLength(600);
    const third = {};
    await add('x'.repeat(500), third);
    expect(store.get(client, second!.id)).toBeUndefined();
    expect(store.get(other, others!.id)).toBe(others);
  });

  test('a result that is larger than the whole store is not kept, which is logged', async () => {
    const { add, logged } = open({ ...limits, clientBytes: 100 });
    expect(await add('x'.repeat(101))).toBeUndefined();
    expect(logged.join('')).toContain('too large to be kept');
  });

  test('everything of a client that leaves is gone', async () => {
    const { add, store, client, directory } = open(limits);
    const kept = await add('x');
    store.forget(client);
    expect(store.get(client, kept!.id)).toBeUndefined();
    await expect.poll(() => filesIn(directory)).toEqual([]);
  });

  test('a result for a client that has left meanwhile is dropped', async () => {
    const { store, client, directory } = open(limits);
    expect(await store.add(client, 'x', FACTS, () => false)).toBeUndefined();
    await expect.poll(() => filesIn(directory)).toEqual([]);
  });

  test('its time ends', async () => {
    const { add, store, client, directory } = open({ ...limits, keepMs: 0 });
    const kept = await add('x');
    expect(store.get(client, kept!.id)).toBeUndefined();
    await expect.poll(() => filesIn(directory)).toEqual([]);
  });

  test('a result that is open is read to its end, also when it is dropped meanwhile', async () => {
    const { add, store, client, directory } = open(limits);
    const text = 'abc'.repeat(1_000_000);
    const kept = await add(text);
    const opened = await kept!.open();
    const first = await opened.slice(0, 1000);
    store.forget(client);
    await expect.poll(() => filesIn(directory)).toEqual([]);
    await expect(kept!.place.kind === 'file' ? kept!.open() : Promise.reject(new Error())).rejects.toThrow();
    expect(first + (await opened.slice(1000, text.length))).toBe(text);
    await opened.close();
  });
});

describe('files', () => {
  test('only we can read them, and their names are not what clients know', async () => {
    const { add, directory } = open(ON_DISK);
    const kept = await add('secret');
    const [file] = filesIn(directory);
    expect(fs.statSync(file!).mode & 0o777).toBe(0o600);
    expect(fs.statSync(join(file!, '..')).mode & 0o777).toBe(0o700);
    expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
    expect(file).not.toContain(kept!.id);
  });

  test('begin where the memory is used up', async () => {
    const { add, directory, client, store } = open({ memoryBytes: 100 });
    await add('x'.repeat(80));
    expect(filesIn(directory)).toEqual([]);
    await add('x'.repeat(80));
    expect(filesIn(directory).length).toBe(1);
    store.forget(client);
    await add('x'.repeat(80));
    await expect.poll(() => filesIn(directory)).toEqual([]);
  });

  test('end with the gateway', async () => {
    const { add, store, directory } = open(ON_DISK);
    await add('x');
    store.end();
    expect(fs.readdirSync(directory)).toEqual([]);
    expect(await add('y')).toBeUndefined();
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  test('that a killed gateway has left are removed, and those of a running one are not', async () => {
    const { add, directory, logged } = open(ON_DISK);
    await add('alive');
    const left = join(directory, '0123456789abcdef');
    fs.mkdirSync(left);
    fs.writeFileSync(join(left, 'owner.json'), JSON.stringify({ ...ownIdentity(), startTime: 1 }));
    fs.writeFileSync(join(left, '1'), 'left');
    const [strange, old] = [join(directory, 'fedcba9876543210'), join(directory, '00000000000000ff')];
    for (const made of [strange, old]) fs.mkdirSync(made);
    fs.utimesSync(old, 0, 0);
    fs.mkdirSync(join(directory, 'notes'));
    const { logged: logOfNext } = open(ON_DISK, directory);
    expect(fs.existsSync(left)).toBe(false);
    expect(fs.existsSync(old)).toBe(false);
    expect(fs.existsSync(strange)).toBe(true);
    expect(fs.existsSync(join(directory, 'notes'))).toBe(true);
    expect(filesIn(directory).length).toBe(1);
    expect([...logged, ...logOfNext]).toEqual([]);
  });

  test('a disk that takes nothing: nothing is kept, and the log says so', async () => {
    const project = createProject({ file: 'not a directory' });
    const { add, logged } = open(ON_DISK, project.path('file'));
    expect(await add('x')).toBeUndefined();
    expect(logged.join('')).toMatch(/could not be kept and is passed on whole.*(EEXIST|ENOTDIR)/);
    fs.rmSync(project.path('file'));
    expect(await textOf(await add('later'))).toBe('later');
  });

  test('a file that is in the way is neither written nor followed', async () => {
    const { add, logged, directory } = open(ON_DISK);
    await add('first');
    const [file] = filesIn(directory);
    const target = join(directory, 'target');
    fs.symlinkSync(target, join(file!, '..', '2'));
    expect(await add('second')).toBeUndefined();
    expect(fs.existsSync(target)).toBe(false);
    expect(logged.join('')).toContain('could not be kept');
    expect(await textOf(await add('third'))).toBe('third');
  });
});
