import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { yardRepository } from '../../../../test/helpers/yard-repository.ts';
import { checkState } from './check.ts';
import { CONFIG_FILE, findYardConfig } from './find-config.ts';
import { ensureProject } from './project-record.ts';
import type { ServiceRecord, State } from './records.ts';

const findConfig = (from: string): string | undefined => findYardConfig(checkState({}).state, from);

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'yard-find-')));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

it('finds the nearest file upwards, from a directory or from a file', () => {
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'switchyard.toml'), '');
  writeFileSync(join(root, 'a/b/main.js'), '');
  expect(findConfig(join(root, 'a/b'))).toBe(join(root, 'switchyard.toml'));
  expect(findConfig(join(root, 'a/b/main.js'))).toBe(join(root, 'switchyard.toml'));
  writeFileSync(join(root, 'a/switchyard.toml'), '');
  expect(findConfig(join(root, 'a/b'))).toBe(join(root, 'a/switchyard.toml'));
});

it('uses the real path of a directory', () => {
  mkdirSync(join(root, 'real/inside'), { recursive: true });
  writeFileSync(join(root, 'real/switchyard.toml'), '');
  mkdirSync(join(root, 'other'));
  symlinkSync(join(root, 'real/inside'), join(root, 'other/link'));
  expect(findConfig(join(root, 'other/link'))).toBe(join(root, 'real/switchyard.toml'));
});

it('ignores a directory with the name of the file', () => {
  mkdirSync(join(root, 'a/switchyard.toml'), { recursive: true });
  expect(findConfig(join(root, 'a'))).toBeUndefined();
});

it('searches above a directory that has been deleted', () => {
  writeFileSync(join(root, 'switchyard.toml'), '');
  expect(findConfig(join(root, 'gone/deeper'))).toBe(join(root, 'switchyard.toml'));
});

describe('in the worktrees of a bare repository', () => {
  let top: string;

  /** A bare repository on main, with worktrees of these branches. */
  function bare(...branches: string[]): {
    readonly state: State;
    readonly at: (path: string) => string | undefined;
  } {
    const { folder, gitIn } = yardRepository();
    top = folder;
    gitIn(top, 'clone', '-q', '--bare', 'shop', 'bare.git');
    for (const branch of branches) {
      const what = branch === 'main' ? [join(top, branch), 'main'] : ['-b', branch, join(top, branch)];
      gitIn(join(top, 'bare.git'), 'worktree', 'add', '-q', ...what);
    }
    const { state } = checkState({});
    return { state, at: (path) => findYardConfig(state, join(top, path)) };
  }
  const fileIn = (branch: string): string => join(top, branch, CONFIG_FILE);

  it('uses the file of the worktree on the default branch', () => {
    const { at } = bare('a', 'main', 'z');
    for (const place of ['a', 'main', 'z', 'bare.git', 'bare.git/refs'])
      expect(at(place)).toBe(fileIn('main'));
    expect(at('shop')).toBe(fileIn('shop'));
  });

  it('uses the first by name if none is on that branch', () => {
    const { at } = bare('z', 'a');
    for (const place of ['a', 'z', 'bare.git']) expect(at(place)).toBe(fileIn('a'));
    rmSync(fileIn('a'));
    for (const place of ['a', 'z', 'bare.git']) expect(at(place)).toBe(fileIn('z'));
  });

  it('stays with the recorded one', () => {
    const { at, state } = bare('a', 'main');
    const record = ensureProject(state, { name: 'shop', root: join(top, 'a'), file: fileIn('a') });
    for (const place of ['a', 'main', 'bare.git']) expect(at(place)).toBe(fileIn('a'));
    // Both used to be projects.
    ensureProject(state, { name: 'main', root: join(top, 'main'), file: fileIn('main') }).created_at = '2026';
    record.created_at = '2027';
    for (const place of ['a', 'main', 'bare.git']) expect(at(place)).toBe(fileIn('main'));
    record.services['a::web'] = {} as ServiceRecord;
    expect(at('a')).toBe(fileIn('a'));
    expect(at('bare.git')).toBe(fileIn('main'));
  });

  it('uses a file that only one of them has', () => {
    const { at } = bare('a', 'main');
    mkdirSync(join(top, 'a/new'));
    writeFileSync(join(top, 'a/new', CONFIG_FILE), '');
    expect(at('a/new')).toBe(fileIn('a/new'));
    expect(at('main')).toBe(fileIn('main'));
  });
});

describe('in a worktree', () => {
  it('that is recorded uses the file of its project, also if git keeps the repository elsewhere', () => {
    const { folder, git, root: shop } = yardRepository();
    const gitDirectory = join(folder, 'kept-elsewhere');
    git('init', '-q', '--separate-git-dir', gitDirectory);
    git('worktree', 'add', '-q', '-b', 'feature', join(folder, 'feature'));
    const { state } = checkState({});
    const project = ensureProject(state, { name: 'shop', root: shop, file: join(shop, CONFIG_FILE) });
    const record = { branch: 'feature', slug: 'feature', path: join(folder, 'feature'), updated_at: '' };
    project.worktrees['feature'] = record;
    expect(findYardConfig(state, join(folder, 'feature'))).toBe(join(shop, CONFIG_FILE));
  });

  it('above all projects uses that of the only one it was made for', () => {
    const { folder, git, root: shop } = yardRepository({ below: 'apps/shop' });
    const path = join(folder, 'feature');
    git('worktree', 'add', '-q', '-b', 'feature', path);
    const { state } = checkState({});
    expect(findYardConfig(state, path)).toBeUndefined();
    const record = { branch: 'feature', slug: 'feature', path, updated_at: '' };
    const file = join(shop, CONFIG_FILE);
    ensureProject(state, { name: 'shop', root: shop, file }).worktrees['feature'] = record;
    expect(findYardConfig(state, path)).toBe(file);
    const blog = { name: 'blog', root: join(shop, '../blog'), file: join(shop, '../blog', CONFIG_FILE) };
    ensureProject(state, blog).worktrees['feature'] = record;
    expect(findYardConfig(state, path)).toBeUndefined();
    expect(findYardConfig(state, join(path, 'apps/shop'))).toBe(file);
  });
});
