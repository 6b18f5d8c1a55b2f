import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../shared/log.ts';
import { createMemory, memoryKey } from './memory.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-memory-'));
  file = join(directory, 'state', 'servers.json');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const info = (instructions: string) => ({
  protocolVersion: '2025-11-25',
  serverInfo: { name: 's' },
  capabilities: { prompts: {} },
  instructions,
});

test('what was remembered is recalled by the next run, for its owner only', () => {
  const memory = createMemory(file, silentLogger);
  memory.remember('k', info('Use me.'));
  memory.save();
  expect(createMemory(file, silentLogger).recall(() => 'k')).toEqual(info('Use me.'));
  expect(createMemory(file, silentLogger).recall(() => 'other')).toBeUndefined();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, 'state')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(directory, 'state'))).toEqual(['servers.json']);
});

test('an unusual framing is remembered; anything else in its place is not believed', () => {
  const memory = createMemory(file, silentLogger);
  memory.remember('framed', { ...info('F'), framing: 'content-length' });
  memory.remember('usual', { ...info('U'), framing: 'newline' });
  memory.save();
  const next = createMemory(file, silentLogger);
  expect(next.recall(() => 'framed')?.framing).toBe('content-length');
  expect(next.recall(() => 'usual')).not.toHaveProperty('framing');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"content-length"', '["anything"]'));
  expect(createMemory(file, silentLogger).recall(() => 'framed')).toEqual(info('F'));
});

test('two programs that write one after the other keep what both learned', () => {
  const [one, two] = [createMemory(file, silentLogger), createMemory(file, silentLogger)];
  one.remember('a', info('A'));
  two.remember('b', info('B'));
  one.save();
  two.save();
  const read = createMemory(file, silentLogger);
  expect([read.recall(() => 'a')?.instructions, read.recall(() => 'b')?.instructions]).toEqual(['A', 'B']);
});

test('nothing is written where nothing is new', () => {
  createMemory(file, silentLogger).save();
  expect(() => statSync(file)).toThrow('ENOENT');
});

test('a damaged file counts as none and is written anew', () => {
  mkdirSync(join(directory, 'state'));
  for (const damage of ['', '{', '[]', '{"version":1,"servers":{"k":7}}', '{"version":9,"servers":{}}']) {
    writeFileSync(file, damage);
    const memory = createMemory(file, silentLogger);
    expect(memory.recall(() => 'k')).toBeUndefined();
    memory.remember('k', info('new'));
    memory.save();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ servers: { k: info('new') } });
  }
});

test('a link in its place is not followed', () => {
  mkdirSync(join(directory, 'state'));
  const elsewhere = join(directory, 'elsewhere');
  writeFileSync(elsewhere, JSON.stringify({ version: 1, servers: { k: info('theirs') } }));
  symlinkSync(elsewhere, file);
  const memory = createMemory(file, silentLogger);
  expect(memory.recall(() => 'k')).toBeUndefined();
  memory.remember('k', info('ours'));
  memory.save();
  expect(readFileSync(elsewhere, 'utf8')).toContain('theirs');
  expect(statSync(file).isFile()).toBe(true);
});

test('a key tells definitions apart and says nothing of them', () => {
  expect(memoryKey('a', ['--token=secret'])).toMatch(/^[0-9a-f]{32}$/);
  expect(memoryKey('a', ['x'])).not.toBe(memoryKey('a', ['y']));
  expect(memoryKey('a', ['x'])).toBe(memoryKey('a', ['x']));
});

test('a server that says very much of itself leaves room for what others said', () => {
  const huge = 'x'.repeat(9_000_000);
  const memory = createMemory(file, silentLogger);
  memory.remember('good', info('Use me.'));
  memory.remember('huge', {
    protocolVersion: '2025-11-25',
    serverInfo: { name: huge, version: '1', padding: huge },
    capabilities: { tools: { padding: huge }, [huge]: {} },
    instructions: huge,
  });
  memory.save();
  expect(statSync(file).size).toBeLessThan(100_000);
  const next = createMemory(file, silentLogger);
  expect(next.recall(() => 'good')).toEqual(info('Use me.'));
  expect(next.recall(() => 'huge')).toMatchObject({
    serverInfo: { version: '1' },
    capabilities: { tools: {} },
  });
});
