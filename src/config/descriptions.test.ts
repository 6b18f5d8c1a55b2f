import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compareServers } from './compare.ts';
import { loadConfig, type LoadedConfig } from './load.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'descriptions-'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, content: unknown): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const child = (name: string, more: object = {}): string =>
  write(`.switchboard/mcps/${name}/.mcp.json`, { name, command: 'node', args: ['server.mjs'], ...more });

const load = (): Promise<LoadedConfig> => loadConfig({ cwd: root, env: {}, ourScript: join(root, 'us.js') });

async function only(): Promise<LoadedConfig['servers'][number]> {
  const { servers, warnings } = await load();
  expect(warnings).toEqual([]);
  expect(servers).toHaveLength(1);
  return servers[0]!;
}

describe('mcp-descriptions.json', () => {
  test('has the description of a suite and the instructions for its model', async () => {
    child('notes');
    write('mcp-descriptions.json', {
      mcps: { notes: { switchboard: 'Use this tool to keep notes', claude: 'Your role is to keep notes.' } },
    });
    const server = await only();
    expect(server.suite.description).toBe('Use this tool to keep notes');
    expect(server.claude).toBe('Your role is to keep notes.');
  });

  test('may hold comments, and lie in .switchboard', async () => {
    child('notes');
    write(
      '.switchboard/mcp-descriptions.json',
      '{ // ours\n "mcps": { "notes": { "claude": "Keep notes." }, } }',
    );
    const server = await only();
    expect(server.claude).toBe('Keep notes.');
    expect(server.suite.description).toBeUndefined();
  });

  test('of two files the one beside the configuration holds for the servers it knows', async () => {
    child('notes');
    child('files');
    write('mcp-descriptions.json', { mcps: { notes: { claude: 'From the root.' } } });
    write('.switchboard/mcp-descriptions.json', {
      mcps: {
        notes: { claude: 'From the folder.', switchboard: 'From the folder.' },
        files: { claude: 'Files.' },
      },
    });
    const { servers } = await load();
    expect(servers.map(({ name, claude, suite }) => [name, claude, suite.description])).toEqual([
      ['files', 'Files.', undefined],
      ['notes', 'From the root.', undefined],
    ]);
  });

  test('comes after "suites" and switchboardDescription, and before the description of the server', async () => {
    write('mcp-descriptions.json', { mcps: { notes: { switchboard: 'Shared words.', claude: 'Role.' } } });
    child('notes', { description: 'notes' });
    expect(await only()).toMatchObject({ description: 'notes', suite: { description: 'Shared words.' } });
    child('notes', { description: 'notes', switchboardDescription: 'Own words.' });
    expect(await only()).toMatchObject({ claude: 'Role.', suite: { description: 'Own words.' } });
    write('switchboard.config.json', { suites: { notes: { description: 'By the configuration.' } } });
    expect((await only()).suite.description).toBe('By the configuration.');
    write('switchboard.config.json', { suites: { notes: { description: ' ' } } });
    expect((await only()).suite.description).toBe('Own words.');
  });

  test('knows servers of any name, and says nothing of those it does not name', async () => {
    child('constructor');
    child('__proto__');
    write('mcp-descriptions.json', '{"mcps":{"__proto__":{"claude":"Proto."}}}');
    const { servers } = await load();
    expect(Object.fromEntries(servers.map(({ name, claude }) => [`of ${name}`, claude]))).toEqual({
      'of __proto__': 'Proto.',
      'of constructor': undefined,
    });
  });

  test('leaves blank words out', async () => {
    child('notes');
    write('mcp-descriptions.json', { mcps: { notes: { switchboard: ' ', claude: '\n' } } });
    const server = await only();
    expect([server.suite.description, server.claude]).toEqual([undefined, undefined]);
  });

  test.each([
    ['is no JSON', '{"mcps":', undefined, 'the file is skipped'],
    ['has no "mcps"', '{"notes":{}}', 'mcps', 'must be an object'],
    ['has an entry that is a text', '{"mcps":{"notes":"Keep notes."}}', 'mcps.notes', 'must be an object'],
    ['has a number for a text', '{"mcps":{"notes":{"claude":7}}}', 'mcps.notes.claude', 'must be a string'],
    [
      'has a text without an end',
      JSON.stringify({ mcps: { notes: { claude: 'x'.repeat(1024 * 1024 + 1) } } }),
      'mcps.notes.claude',
      'is longer than 1048576 characters',
    ],
  ])('a file that %s is a warning, and the server is used', async (_what, content, key, message) => {
    child('notes');
    const file = write('mcp-descriptions.json', content);
    const { servers, warnings } = await load();
    expect(servers.map(({ name }) => name)).toEqual(['notes']);
    expect(warnings).toHaveLength(1);
    const { file: of = '', message: text, ...rest } = warnings[0]!;
    expect(`${of} ${text}`).toContain(file);
    expect(text).toContain(message);
    expect(rest).toEqual(key === undefined ? { level: 'warn' } : { key, level: 'warn' });
  });

  test.skipIf(process.platform === 'win32').each<[string, (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a link to itself', (path) => symlinkSync('mcp-descriptions.json', path)],
    ['a device that has no end', (path) => symlinkSync('/dev/zero', path)],
    ['a pipe that nobody writes to', (path) => void spawnSync('mkfifo', [path])],
  ])('%s of that name is a warning too, and never waited for', async (_what, make) => {
    child('notes');
    make(join(root, 'mcp-descriptions.json'));
    const { servers, warnings } = await load();
    expect(servers).toHaveLength(1);
    expect(warnings.map(({ level }) => level)).toEqual(['warn']);
  });

  test('a file where .switchboard would be is no trouble', async () => {
    write('switchboard.config.json', { mcpServers: { notes: { command: 'node' } } });
    write('.switchboard', 'no folder');
    expect((await only()).claude).toBeUndefined();
  });

  test('a change in it is a change of how the server is shown', async () => {
    child('notes');
    const before = await only();
    write('mcp-descriptions.json', { mcps: { notes: { switchboard: 'Shared words.' } } });
    expect(compareServers(before, await only())).toBe('presentation');
  });
});
