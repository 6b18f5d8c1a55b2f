import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProject } from '../../../test/helpers/temp-project.ts';
import { readFolderState } from './folder-state.ts';
import { outerConfig } from './outer-config.ts';
import { wrapperScript } from './script.ts';
import { unwrapFolder } from './unwrap-folder.ts';
import { wrapFolder, type WrapPlan } from './wrap-folder.ts';

const ORIGINAL =
  '{\n  // mine\n  "name": "memory", "command": { "cmd": "node", "args": ["server.js"], "env": { "A": "s3cret" } },\n}\r\n';
const CONFIG = '.mcp.json';

// Waiting for the disk only matters after a power failure, which no test causes, and takes most of the time.
const { fsyncSync } = fs;
beforeAll(() => {
  fs.fsyncSync = () => undefined;
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.fsyncSync = fsyncSync;
  syncBuiltinESMExports();
});

function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const { dir } = createProject({ [CONFIG]: ORIGINAL, 'server.js': '// the server\n', ...files });
  fs.chmodSync(join(dir, CONFIG), 0o640);
  return dir;
}

function planFor(folder: string, instructions?: string): WrapPlan {
  return {
    folder,
    server: 'memory',
    original: Buffer.from(ORIGINAL),
    config: outerConfig(
      { name: 'memory', description: 'Remembers.' },
      { server: 'memory', command: 'node', args: ['memory-claude-wrapper.mjs'], rpcMs: 1000 },
    ),
    script: wrapperScript('memory', { kind: 'installed', program: '/opt/switchboard/dist/index.js' }),
    instructions,
  };
}

/** Names, kinds, permissions and contents of everything in a folder, and the identity of the definition's file. */
function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of fs.readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name);
    const stat = fs.lstatSync(path);
    const content = stat.isFile() ? fs.readFileSync(path, 'latin1') : '';
    found[name] = `${stat.mode.toString(8)} ${content}`;
  }
  const { ino, mtimeMs } = fs.statSync(join(folder, CONFIG));
  found.identity = `${ino} ${mtimeMs}`;
  return found;
}

/** One of the definitions is usable: the server's own, or the script's with everything it needs. */
function expectUsable(folder: string): void {
  const text = fs.readFileSync(join(folder, CONFIG), 'utf8');
  if (text === ORIGINAL) return;
  expect(JSON.parse(text)).toEqual(planFor(folder).config);
  expect(fs.readFileSync(join(folder, 'original', CONFIG), 'utf8')).toBe(ORIGINAL);
  expect(fs.existsSync(join(folder, 'memory-claude-wrapper.mjs'))).toBe(true);
  expect(fs.existsSync(join(folder, 'CLAUDE.md'))).toBe(true);
}

const SITUATIONS: [string, Record<string, string>, string | undefined][] = [
  ['a folder without instructions', {}, '# Ours\n'],
  ['a folder whose own instructions are used', { 'CLAUDE.md': '# Own\n' }, undefined],
  ['a folder whose own instructions are set aside', { 'CLAUDE.md': '# Own\n' }, '# Ours\n'],
];

test('a wrapped folder has the files of the layout and nothing else, and the definition is the same file', () => {
  const folder = folderWith();
  const before = fs.statSync(join(folder, CONFIG));
  wrapFolder(planFor(folder, '# Ours\n'));
  expect((fs.readdirSync(folder, { recursive: true }) as string[]).sort()).toEqual(
    [CONFIG, 'CLAUDE.md', 'memory-claude-wrapper.mjs', 'original', `original/${CONFIG}`, 'server.js'].sort(),
  );
  const kept = fs.statSync(join(folder, 'original', CONFIG));
  expect([kept.ino, kept.mode, kept.mtimeMs]).toEqual([before.ino, before.mode, before.mtimeMs]);
  expect(fs.statSync(join(folder, CONFIG)).mode).toBe(before.mode);
  expect(readFolderState(folder).kind).toBe('wrapped');
});

describe.each(SITUATIONS)('%s', (_, files, instructions) => {
  test('is as it was, to the byte, after wrap and unwrap', () => {
    const folder = folderWith(files);
    const before = snapshot(folder);
    wrapFolder(planFor(folder, instructions));
    expectUsable(folder);
    expect(unwrapFolder(folder)).toEqual({ kept: [] });
    expect(snapshot(folder)).toEqual(before);
    expect(readFolderState(folder).kind).toBe('plain');
  });
});

describe('what is in the way is not touched', () => {
  test.each([
    ['a folder original', { 'original/notes.txt': 'mine' }],
    ['a file of the name of the script', { 'memory-claude-wrapper.mjs': '// mine' }],
  ])('%s', (_, files: Record<string, string>) => {
    const folder = folderWith(files);
    const before = snapshot(folder);
    expect(() => wrapFolder(planFor(folder, '# Ours\n'))).toThrow(/already exists/);
    expect(snapshot(folder)).toEqual(before);
    unwrapFolder(folder, { force: true });
    expect(snapshot(folder)).toEqual(before);
  });

  test('a definition that is a link is refused', () => {
    const folder = folderWith();
    fs.renameSync(join(folder, CONFIG), join(folder, 'real.json'));
    fs.symlinkSync('real.json', join(folder, CONFIG));
    expect(() => wrapFolder(planFor(folder, '# Ours\n'))).toThrow(/is a link to another file/);
  });

  test.each<[string, (path: string) => void]>([
    ['a folder', (path) => fs.mkdirSync(path)],
    ['a broken link', (path) => fs.symlinkSync('nowhere.md', path)],
    ['a link to itself', (path) => fs.symlinkSync('CLAUDE.md', path)],
  ])('%s in the place of CLAUDE.md is refused: no model could be told it', (_, make) => {
    const folder = folderWith();
    make(join(folder, 'CLAUDE.md'));
    const before = snapshot(folder);
    expect(() => wrapFolder(planFor(folder, '# Ours\n'))).toThrow(
      /CLAUDE\.md is not a file, nor a link to one/,
    );
    expect(snapshot(folder)).toEqual(before);
  });

  test('a folder that is wrapped already is refused', () => {
    const folder = folderWith();
    wrapFolder(planFor(folder, '# Ours\n'));
    const before = snapshot(folder);
    expect(() => wrapFolder(planFor(folder, '# Others\n'))).toThrow(/is already wrapped/);
    expect(snapshot(folder)).toEqual(before);
  });

  test('a definition that is changed meanwhile is not lost', () => {
    const folder = folderWith();
    const newer = ORIGINAL.replace('server.js', 'server.mjs');
    fs.writeFileSync(join(folder, CONFIG), newer);
    const before = snapshot(folder);
    expect(() => wrapFolder(planFor(folder, '# Ours\n'))).toThrow(/is being changed by another program/);
    expect(snapshot(folder)).toEqual(before);
  });

  test('a folder that was never wrapped is left alone by unwrap', () => {
    const folder = folderWith({ 'original/.mcp.json': '{}', 'CLAUDE.md': 'mine' });
    const before = snapshot(folder);
    unwrapFolder(folder, { force: true });
    expect(snapshot(folder)).toEqual(before);
  });
});

describe('what was changed since', () => {
  const change = (folder: string, file: string, text: (before: string) => string): void =>
    fs.writeFileSync(join(folder, file), text(fs.readFileSync(join(folder, file), 'utf8')));

  test('edited instructions are kept and reported', () => {
    const folder = folderWith();
    wrapFolder(planFor(folder, '# Ours\n'));
    change(folder, 'CLAUDE.md', (text) => `${text}And be brief.\n`);
    expect(unwrapFolder(folder)).toEqual({ kept: [join(folder, 'CLAUDE.md')] });
    expect(fs.readdirSync(folder).sort()).toEqual([CONFIG, 'CLAUDE.md', 'server.js']);
    expect(fs.readFileSync(join(folder, CONFIG), 'utf8')).toBe(ORIGINAL);
  });

  test('they stay beside those that the folder had before', () => {
    const folder = folderWith({ 'CLAUDE.md': '# Own\n' });
    wrapFolder(planFor(folder, '# Ours\n'));
    change(folder, 'CLAUDE.md', (text) => `${text}And be brief.\n`);
    expect(unwrapFolder(folder)).toEqual({ kept: [join(folder, 'CLAUDE.edited.md')] });
    expect(fs.readFileSync(join(folder, 'CLAUDE.md'), 'utf8')).toBe('# Own\n');
    expect(fs.readFileSync(join(folder, 'CLAUDE.edited.md'), 'utf8')).toBe('# Ours\nAnd be brief.\n');
  });

  test('they go where that is wanted', () => {
    const folder = folderWith();
    const before = snapshot(folder);
    wrapFolder(planFor(folder, '# Ours\n'));
    change(folder, 'CLAUDE.md', () => 'changed');
    expect(unwrapFolder(folder, { force: true })).toEqual({ kept: [] });
    expect(snapshot(folder)).toEqual(before);
  });

  test('a definition that was changed is not thrown away unless that is wanted', () => {
    const folder = folderWith();
    const before = snapshot(folder);
    wrapFolder(planFor(folder, '# Ours\n'));
    change(folder, CONFIG, (text) => text.replace('Remembers.', 'Remembers all.'));
    const wrapped = snapshot(folder);
    expect(() => unwrapFolder(folder)).toThrow(/was changed after it was written: description\./);
    expect(snapshot(folder)).toEqual(wrapped);
    unwrapFolder(folder, { force: true });
    expect(snapshot(folder)).toEqual(before);
  });

  test('the arguments of the script are settings, which may be changed', () => {
    const folder = folderWith();
    const before = snapshot(folder);
    wrapFolder(planFor(folder, '# Ours\n'));
    change(folder, CONFIG, (text) =>
      text.replace('"memory-claude-wrapper.mjs"', '"memory-claude-wrapper.mjs", "--max-steps", "3"'),
    );
    unwrapFolder(folder);
    expect(snapshot(folder)).toEqual(before);
  });

  test('a script that was changed is not thrown away unless that is wanted', () => {
    const folder = folderWith();
    wrapFolder(planFor(folder, '# Ours\n'));
    change(folder, 'memory-claude-wrapper.mjs', (text) => `// mine\n${text}`);
    expect(() => unwrapFolder(folder)).toThrow(/claude-wrapper\.mjs was changed/);
    expect(unwrapFolder(folder, { force: true })).toEqual({ kept: [] });
  });

  test('line endings that git has turned are no change', () => {
    const folder = folderWith();
    wrapFolder(planFor(folder, '# Ours\n\n- be brief\n'));
    for (const file of [CONFIG, 'CLAUDE.md', 'memory-claude-wrapper.mjs'])
      change(folder, file, (text) => text.replaceAll('\n', '\r\n'));
    expect(unwrapFolder(folder)).toEqual({ kept: [] });
    expect(fs.readdirSync(folder).sort()).toEqual([CONFIG, 'server.js']);
  });

  test.each([
    ['is lost', () => undefined, false],
    ['is lost together with that of the script', (folder: string) => fs.rmSync(join(folder, CONFIG)), false],
    [
      'is written again in place of that of the script',
      (folder: string) => fs.writeFileSync(join(folder, CONFIG), ORIGINAL),
      true,
    ],
  ])('a definition that %s', (_, change, isUnwrapped) => {
    const folder = folderWith();
    wrapFolder(planFor(folder, '# Ours\n'));
    fs.rmSync(join(folder, 'original', CONFIG));
    change(folder);
    const before = fs.readdirSync(folder);
    if (isUnwrapped) {
      unwrapFolder(folder);
      expect(fs.readFileSync(join(folder, CONFIG), 'utf8')).toBe(ORIGINAL);
      expect(fs.readdirSync(folder).sort()).toEqual([CONFIG, 'server.js']);
      return;
    }
    for (const force of [false, true])
      expect(() => unwrapFolder(folder, { force })).toThrow(/original\/.mcp.json is missing/);
    expect(fs.readdirSync(folder)).toEqual(before);
  });

  test('files added to original/ are kept', () => {
    const folder = folderWith();
    wrapFolder(planFor(folder, '# Ours\n'));
    fs.writeFileSync(join(folder, 'original/notes.txt'), 'mine');
    expect(unwrapFolder(folder)).toEqual({ kept: [join(folder, 'original')] });
    expect(fs.readdirSync(join(folder, 'original'))).toEqual(['notes.txt']);
  });

  test('the definition of the server may be changed where it is kept', () => {
    const folder = folderWith();
    wrapFolder(planFor(folder, '# Ours\n'));
    change(folder, `original/${CONFIG}`, (text) => text.replace('s3cret', 'other'));
    unwrapFolder(folder);
    expect(fs.readFileSync(join(folder, CONFIG), 'utf8')).toBe(ORIGINAL.replace('s3cret', 'other'));
  });
});
