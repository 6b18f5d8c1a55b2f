import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Component, type Listing } from '../../gateway/index.ts';
import { silentLogger } from '../../shared/log.ts';
import {
  createServerCache,
  serverCacheKey,
  type ServerCache,
  type ServerCacheEntry,
} from './server-cache.ts';

let directory: string;
beforeEach(() => {
  directory = join(fs.mkdtempSync(join(tmpdir(), 'switchboard-memory-')), 'state', 'servers');
});
afterEach(() => fs.rmSync(join(directory, '..', '..'), { recursive: true, force: true }));

const DAY = 24 * 60 * 60 * 1000;
const KEY = serverCacheKey('k');

const openMemory = (): ServerCache => createServerCache(directory, silentLogger);
const serverIn = (cache: ServerCache, name = 'k', secrets: string[] = []): ServerCacheEntry =>
  cache.of({ key: () => serverCacheKey(name), secrets: () => secrets });
const fileOf = (key: string): string => join(directory, `${key}.jsonl`);

const info = (instructions: string) => ({
  protocolVersion: '2025-11-25',
  serverInfo: { name: 's' },
  capabilities: { prompts: {} },
  instructions,
});

function listing(...texts: string[]): Listing {
  const components = texts.map((text) => new Component((JSON.parse(text) as { name: string }).name, text));
  return { components, byKey: new Map(components.map((each) => [each.key, each])), incomplete: undefined };
}

const TOOL = '{"name":"add","inputSchema":{"type":"object"},"_meta":{"precise":1.00000000000000000001}}';

/** What the next run finds after this one has learned something. */
function afterLearning(learn: (server: ServerCacheEntry) => void, secrets: string[] = []): ServerCacheEntry {
  const cache = openMemory();
  learn(serverIn(cache, 'k', secrets));
  cache.save();
  return serverIn(openMemory());
}

/** What is found if the file has this content. */
function found(content: string | Buffer): ServerCacheEntry {
  fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(fileOf(KEY), content);
  return serverIn(openMemory());
}

const textsOf = (list: Listing | undefined) => list?.components.map(({ text }) => text);

test('facts and lists are there in the next run, to the letter, for their owner only', () => {
  const next = afterLearning((server) => {
    server.learn({ about: info('Use me.') });
    server.learn({ framing: 'content-length' });
    server.learnList('tools', listing(TOOL));
    server.learnList('prompts', listing());
  });
  expect(next.about).toEqual(info('Use me.'));
  expect(next.about).toBe(next.about);
  expect(next.framing).toBe('content-length');
  expect(textsOf(next.list('tools'))).toEqual([TOOL]);
  expect(next.list('tools')).toMatchObject({ remembered: true, incomplete: undefined });
  expect(next.list('tools')).toBe(next.list('tools'));
  expect(textsOf(next.list('prompts'))).toEqual([]);
  expect(next.list('resources')).toBeUndefined();
  expect(fs.statSync(fileOf(KEY)).mode & 0o777).toBe(0o600);
  expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
  expect(fs.readdirSync(directory)).toEqual([`${KEY}.jsonl`]);
});

test('only an unusual framing is remembered, and no longer than it holds', () => {
  expect(afterLearning((server) => server.learn({ framing: 'newline' })).framing).toBeUndefined();
  expect(afterLearning((server) => server.learn({ framing: 'content-length' })).framing).toBe(
    'content-length',
  );
  expect(afterLearning((server) => server.learn({ framing: 'newline' })).framing).toBeUndefined();
});

test('the eras it supports are remembered, each by itself, and can be forgotten', () => {
  const support = (facts: ServerCacheEntry['support']): ServerCacheEntry['support'] =>
    afterLearning((server) => server.learn({ support: facts })).support;
  expect(support({ legacy: true })).toEqual({ legacy: true });
  expect(support({ modern: false })).toEqual({ legacy: true, modern: false });
  expect(support({ modern: undefined })).toEqual({ legacy: true });
  expect(found(HEAD).support).toEqual({ legacy: true });
  expect(found('{"version":2,"lists":{},"support":{"legacy":"yes","modern":true}}').support).toEqual({
    modern: true,
  });
});

test('another configuration finds nothing of it', () => {
  afterLearning((server) => server.learnList('tools', listing(TOOL)));
  const other = serverIn(openMemory(), 'other');
  expect([other.about, other.framing, other.list('tools')]).toEqual([undefined, undefined, undefined]);
});

test('what this run has learned is what it remembers', () => {
  afterLearning((server) => server.learnList('tools', listing(TOOL)));
  const server = serverIn(openMemory());
  server.learnList('tools', listing('{"name":"sub"}'));
  expect(textsOf(server.list('tools'))).toEqual(['{"name":"sub"}']);
  expect(server.list('tools')?.remembered).toBe(true);
});

test('two programs that write one after the other keep what both learned', () => {
  const [one, two] = [openMemory(), openMemory()];
  serverIn(one).learn({ about: info('A') });
  serverIn(two).learnList('tools', listing(TOOL));
  serverIn(two, 'b').learn({ about: info('B') });
  one.save();
  two.save();
  const next = openMemory();
  expect(serverIn(next).about?.instructions).toBe('A');
  expect(textsOf(serverIn(next).list('tools'))).toEqual([TOOL]);
  expect(serverIn(next, 'b').about?.instructions).toBe('B');
});

test('nothing is written where nothing was learned, nor again where nothing is new', () => {
  openMemory().save();
  expect(fs.existsSync(directory)).toBe(false);
  const learn = (server: ServerCacheEntry): void => server.learn({ about: info('A') });
  afterLearning(learn);
  const { ino } = fs.statSync(fileOf(KEY));
  const old = new Date(Date.now() - 2 * DAY);
  fs.utimesSync(fileOf(KEY), old, old);
  afterLearning(learn);
  expect(fs.statSync(fileOf(KEY)).ino).toBe(ino);
  expect(Date.now() - fs.statSync(fileOf(KEY)).mtimeMs).toBeLessThan(DAY);
});

/** The text of a record with a list of tools. */
const withTools = (...items: string[]): string => [head({ tools: items.length }), ...items].join('\n');
const head = (lists: object): string =>
  JSON.stringify({ version: 2, about: { protocolVersion: '2025-11-25' }, lists });
const HEAD = head({});

test('a damaged file counts as none and is written again', () => {
  const damages = [
    '',
    '{',
    '[]',
    '\n\n\n',
    '{"version":1,"lists":{}}',
    '{"version":2}',
    head({ tools: 1 }),
    head({ tools: -1 }),
    head({ tools: 0.5 }),
    head({ tools: '0' }),
    head({ tasks: 0 }),
    `${head({ tools: 1, prompts: 2 })}\n{"name":"a"}\n{"name":"b"}`,
    Buffer.from([0xff, 0xfe, 0]),
    HEAD.slice(0, -1),
    '['.repeat(100_000),
  ];
  for (const damage of damages) {
    const server = found(damage);
    expect([server.about, server.framing, server.list('tools')]).toEqual([undefined, undefined, undefined]);
    expect(afterLearning((each) => each.learn({ about: info('new') })).about).toEqual(info('new'));
  }
});

test('facts of the wrong kind are left out', () => {
  const server = found(
    '{"version":2,"lists":{},"about":{"protocolVersion":"1","serverInfo":[],"capabilities":"all","instructions":{}},"framing":"tin can"}',
  );
  expect(server.framing).toBeUndefined();
  expect(server.about).toEqual({
    protocolVersion: '1',
    serverInfo: {},
    capabilities: {},
    instructions: undefined,
  });
});

test.each([
  ['cut off', '{"name":"a"'],
  ['empty', ''],
  ['two items', '{"name":"a"},{"name":"b"}'],
  ['a broken line inside', '{"name":"a",\r"description":"b"}'],
  ['nested too deeply', `{"name":"a","x":${'['.repeat(300)}${']'.repeat(300)}}`],
])('a list with a damaged item (%s) is not used, and the facts are', (_how, line) => {
  const server = found(withTools('{"name":"good"}', line));
  expect(server.list('tools')).toBeUndefined();
  expect(server.about).toBeDefined();
});

test('items are checked like those of a server that runs', () => {
  const items = [
    '{"name":"a","description":7,"inputSchema":{"type":"object"}}',
    '{"name":"b"}',
    '{"name":"b","description":"again"}',
    '{"title":"nameless"}',
    '7',
    '"text"',
    ...Array.from({ length: 1500 }, (_, n) => `{"name":"n${n}","inputSchema":{"type":"object"}}`),
  ];
  const list = found(withTools(...items)).list('tools')!;
  expect(list.components).toHaveLength(1000);
  expect(textsOf(list)!.slice(0, 3)).toEqual([
    '{"name":"a","inputSchema":{"type":"object"}}',
    '{"name":"b","inputSchema":{"type":"object"}}',
    '{"name":"n0","inputSchema":{"type":"object"}}',
  ]);
});

test('a list with more lines than a server may list is not used, and the facts are', () => {
  const lines = (count: number): string[] => Array.from({ length: count }, () => '{}');
  expect(found(withTools('{"name":"a"}', ...lines(9_999))).list('tools')?.components).toHaveLength(1);
  const server = found(withTools('{"name":"a"}', ...lines(10_000)));
  expect(server.list('tools')).toBeUndefined();
  expect(server.about).toBeDefined();
});

test('a file that is too large, too old, a directory or a link is not read', () => {
  expect(found(`${HEAD}\n${' '.repeat(1024 * 1024)}`).about).toBeUndefined();
  expect(found(HEAD).about).toBeDefined();
  const old = new Date(Date.now() - 100 * DAY);
  fs.utimesSync(fileOf(KEY), old, old);
  expect(serverIn(openMemory()).about).toBeUndefined();
  const elsewhere = join(directory, '..', 'elsewhere');
  fs.renameSync(fileOf(KEY), elsewhere);
  fs.utimesSync(elsewhere, new Date(), new Date());
  fs.symlinkSync(elsewhere, fileOf(KEY));
  expect(serverIn(openMemory()).about).toBeUndefined();
  fs.rmSync(fileOf(KEY));
  fs.mkdirSync(fileOf(KEY));
  expect(afterLearning((server) => server.learn({ about: info('x') })).about).toBeUndefined();
});

test('a server that says very much of itself takes no more room than others, and keeps its other lists', () => {
  const huge = 'x'.repeat(9_000_000);
  const next = afterLearning((server) => {
    server.learn({
      about: {
        protocolVersion: '2025-11-25',
        serverInfo: { name: huge, version: '1', title: 'Adds', padding: huge },
        capabilities: { tools: { padding: huge }, [huge]: {} },
        instructions: huge,
      },
    });
    server.learnList('tools', listing(`{"name":"a","description":"${huge}"}`));
    server.learnList('prompts', listing('{"name":"p"}'));
  });
  expect(fs.statSync(fileOf(KEY)).size).toBeLessThan(100_000);
  expect(next.about).toMatchObject({
    serverInfo: { version: '1', title: 'Adds' },
    capabilities: { tools: {} },
  });
  expect(next.list('tools')).toBeUndefined();
  expect(textsOf(next.list('prompts'))).toEqual(['{"name":"p"}']);
});

test('a list that is incomplete is not remembered, and neither is the one before it', () => {
  afterLearning((server) => server.learnList('tools', listing(TOOL)));
  const next = afterLearning((server) =>
    server.learnList('tools', { ...listing(TOOL), incomplete: 'its list repeats the same page.' }),
  );
  expect(next.list('tools')).toBeUndefined();
});

test('what holds a secret is never written', () => {
  const secret = 'pa"ss-word-1';
  const next = afterLearning(
    (server) => {
      server.learn({ about: info(`You are logged in with ${secret}.`) });
      server.learnList('tools', listing(JSON.stringify({ name: 'a', description: `Uses ${secret}` })));
      server.learnList('prompts', listing('{"name":"p"}'));
    },
    [secret],
  );
  expect(fs.readFileSync(fileOf(KEY), 'utf8')).not.toMatch(/ss-word-1/);
  expect(next.about).toMatchObject({ capabilities: { prompts: {} }, instructions: undefined });
  expect(next.list('tools')).toBeUndefined();
  expect(next.list('prompts')).toBeDefined();
});

test('the oldest are forgotten where there are too many, and what a dead program left behind', () => {
  fs.mkdirSync(directory, { recursive: true });
  const aged = (name: string, days: number): void => {
    fs.writeFileSync(join(directory, name), HEAD);
    const at = new Date(Date.now() - days * DAY);
    fs.utimesSync(join(directory, name), at, at);
  };
  for (let n = 0; n < 510; n++) aged(`${serverCacheKey(n)}.jsonl`, 1 + n / 1000);
  aged(`${serverCacheKey('dead')}.jsonl.0123456789ab.tmp`, 1);
  aged(`${serverCacheKey('busy')}.jsonl.0123456789ab.tmp`, 0);
  aged(`${serverCacheKey('ancient')}.jsonl`, 100);
  aged('notes.txt', 100);
  afterLearning((server) => server.learn({ about: info('new') }));
  const left = fs.readdirSync(directory);
  expect(left).toHaveLength(500 + 2);
  expect(left).toContain('notes.txt');
  expect(left).toContain(`${KEY}.jsonl`);
  expect(left).toContain(`${serverCacheKey('busy')}.jsonl.0123456789ab.tmp`);
  expect(left).toContain(`${serverCacheKey(0)}.jsonl`);
  expect(left).not.toContain(`${serverCacheKey(509)}.jsonl`);
});

test('a directory that cannot be written costs nothing but the memory', () => {
  fs.mkdirSync(join(directory, '..'), { recursive: true });
  fs.writeFileSync(directory, 'a file in its place');
  expect(afterLearning((server) => server.learn({ about: info('x') })).about).toBeUndefined();
});

test('a file that cannot be written costs no other server its own', () => {
  fs.mkdirSync(fileOf(KEY), { recursive: true });
  const cache = openMemory();
  serverIn(cache).learn({ about: info('A') });
  serverIn(cache, 'b').learn({ about: info('B') });
  cache.save();
  expect(serverIn(openMemory(), 'b').about).toEqual(info('B'));
});

test('a key tells definitions apart and says nothing of them', () => {
  expect(serverCacheKey('a', ['--token=secret'])).toMatch(/^[0-9a-f]{32}$/);
  expect(serverCacheKey('a', ['x'])).not.toBe(serverCacheKey('a', ['y']));
  expect(serverCacheKey('a', ['x'])).toBe(serverCacheKey('a', ['x']));
});
