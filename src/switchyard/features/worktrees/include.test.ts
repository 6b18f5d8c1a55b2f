import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { yardRepository, type YardRepository } from '../../../../test/helpers/yard-repository.ts';
import { syncIncluded } from './include.ts';

/** A project with ignored files of many kinds. */
function shop(include: string | undefined): YardRepository & { to: string; sync: () => Promise<string[]> } {
  const repository = yardRepository();
  const { root, folder, write, env } = repository;
  write('.gitignore', '.env*\nnode_modules/\nconfig/\n*.local\n');
  for (const path of ['.env', '.env.local', 'sub/.env', 'node_modules/pkg/.env', 'node_modules/pkg/index.js'])
    write(path, path);
  for (const path of ['config/keys.json', 'config/deep/other', 'mixed/a.local', 'mixed/b.txt', 'untracked'])
    write(path, path);
  if (include !== undefined) write('.worktreeinclude', include);
  const to = join(folder, 'worktree');
  mkdirSync(to);
  return { ...repository, to, sync: () => syncIncluded({ from: root, to, worktrees: [to], env }) };
}

test('without the file nothing is copied', async () => {
  expect(await shop(undefined).sync()).toEqual([]);
});

test('ignored files that it names are copied; tracked, untracked and unnamed ones are not', async () => {
  const { sync, to } = shop('# secrets\n.env*\n!.env.local\nuntracked\nswitchyard.toml\n');
  expect(await sync()).toEqual(['copied .env', 'copied sub/.env']);
  expect(readFileSync(join(to, 'sub', '.env'), 'utf8')).toBe('sub/.env');
  expect(existsSync(join(to, 'node_modules'))).toBe(false);
});

test('a file in an ignored directory is found if a pattern names the path', async () => {
  const { sync, to } = shop('config/keys.json\n');
  expect(await sync()).toEqual(['copied config/keys.json']);
  expect(existsSync(join(to, 'config', 'deep'))).toBe(false);
});

test('an ignored directory named in it is copied as a whole', async () => {
  const { sync, to } = shop('/node_modules/\nconfig\n');
  expect(await sync()).toEqual(['copied config/', 'copied node_modules/']);
  expect(readFileSync(join(to, 'node_modules', 'pkg', 'index.js'), 'utf8')).toBe('node_modules/pkg/index.js');
  expect(existsSync(join(to, 'config', 'deep', 'other'))).toBe(true);
});

test('of a directory that is not ignored, only what is ignored in it', async () => {
  const { sync } = shop('mixed/\n');
  expect(await sync()).toEqual(['copied mixed/a.local']);
});

test('existing files are kept, and nothing is written through a link to the outside', async () => {
  const { sync, to, folder } = shop('.env\nconfig/keys.json\n');
  symlinkSync(join(folder, 'nowhere'), join(to, '.env'));
  symlinkSync(folder, join(to, 'config'));
  expect(await sync()).toEqual(['copied sub/.env']);
  expect(lstatSync(join(to, '.env')).isSymbolicLink()).toBe(true);
  expect(existsSync(join(folder, 'keys.json'))).toBe(false);
});

test('no worktree is copied into another one', async () => {
  const { root, git, env, write } = yardRepository();
  write('.gitignore', '.trees/\n*.secret\n');
  write('.worktreeinclude', '*\n');
  write('a.secret', 'a');
  for (const name of ['one', 'two']) git('worktree', 'add', '-q', '-b', name, join(root, '.trees', name));
  const worktrees = ['one', 'two'].map((name) => join(root, '.trees', name));
  expect(await syncIncluded({ from: root, to: worktrees[1]!, worktrees, env })).toEqual(['copied a.secret']);
});

test('names with spaces, umlauts and newlines are copied, and long lists are shortened', async () => {
  const { root, env, write, folder } = yardRepository();
  write('.gitignore', '*.key\n');
  write('.worktreeinclude', '*.key\n');
  const names = Array.from({ length: 30 }, (_, index) => `k${index}.key`);
  for (const name of ['a b.key', 'ü/ö.key', 'new\nline.key', ...names]) write(name, name);
  const to = join(folder, 'worktree');
  mkdirSync(to);
  const actions = await syncIncluded({ from: root, to, worktrees: [], env });
  expect(actions).toHaveLength(21);
  expect(actions.at(-1)).toBe('copied 13 more files listed in .worktreeinclude');
  for (const name of ['a b.key', 'ü/ö.key', 'new\nline.key', ...names])
    expect(existsSync(join(to, name))).toBe(true);
});
