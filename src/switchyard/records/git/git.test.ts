import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { yardRepository } from '../../../../test/helpers/yard-repository.ts';
import { changedFiles, currentBranch, gitIn, worktreeList } from './git.ts';

test('a failure is reported in the words of git, with its hint', async () => {
  const { root, env } = yardRepository();
  await expect(gitIn(root, env)(['worktree', 'add'], { hint: 'Do it right.' })).rejects.toMatchObject({
    code: 'GIT_FAILED',
    message: expect.stringContaining('usage: git worktree add') as string,
    hint: 'Do it right.',
  });
  await expect(gitIn(root, env)(['rev-parse', 'nothing-like-it'])).rejects.toThrow(
    /git rev-parse failed: .*unknown revision/s,
  );
});

test('without git on the PATH the error says so', async () => {
  const { root, env, folder } = yardRepository();
  const git = gitIn(root, { ...env, PATH: join(folder, 'empty') });
  await expect(git(['status'])).rejects.toMatchObject({
    code: 'GIT_MISSING',
    hint: expect.any(String) as string,
  });
});

test('variables that a hook has set for another repository are ignored', async () => {
  const { root, env, git } = yardRepository();
  const other = yardRepository();
  const misled = {
    ...env,
    GIT_DIR: join(other.root, '.git'),
    GIT_WORK_TREE: other.root,
    GIT_INDEX_FILE: join(other.root, '.git', 'index'),
    GIT_PREFIX: 'x/',
  };
  git('switch', '-q', '-c', 'here');
  expect(await currentBranch(gitIn(root, misled))).toBe('here');
  expect((await worktreeList(gitIn(root, misled)))?.map(({ path }) => path)).toEqual([root]);
});

test('worktrees are listed with all details, including newlines in their paths', async () => {
  const { root, env, git, folder } = yardRepository();
  git('worktree', 'add', '-q', '-b', 'feature/ü', join(folder, 'line\nbreak'));
  git('worktree', 'add', '-q', '--detach', join(folder, 'detached'));
  git('worktree', 'lock', '--reason', 'on a stick', join(folder, 'detached'));
  const list = (await worktreeList(gitIn(root, env)))!;
  const plain = { bare: false, locked: false, prunable: false };
  expect(list).toEqual(
    expect.arrayContaining([
      { path: root, branch: 'main', ...plain },
      { path: join(folder, 'line\nbreak'), branch: 'feature/ü', ...plain },
      { path: join(folder, 'detached'), branch: undefined, ...plain, locked: true },
    ]),
  );
  expect(list).toHaveLength(3);
});

test('a git without -z works too', async () => {
  const { root, env, git, folder } = yardRepository();
  git('worktree', 'add', '-q', '-b', 'feature', join(folder, 'feature'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const old =
    '#!/bin/sh\nfor word; do [ "$word" = -z ] && echo "unknown switch" >&2 && exit 129; done\nexec "$GIT" "$@"\n';
  writeFileSync(join(bin, 'git'), old);
  chmodSync(join(bin, 'git'), 0o755);
  const real = (env.PATH ?? '')
    .split(':')
    .map((place) => join(place, 'git'))
    .find((file) => existsSync(file))!;
  const list = await worktreeList(gitIn(root, { ...env, GIT: real, PATH: `${bin}:${env.PATH ?? ''}` }));
  expect(list?.map(({ branch }) => branch)).toEqual(['main', 'feature']);
});

test('outside a repository there are no worktrees and no branch', async () => {
  const { folder, env } = yardRepository();
  expect(await worktreeList(gitIn(folder, env))).toBeUndefined();
  expect(await currentBranch(gitIn(folder, env))).toBeUndefined();
});

test('the current branch is known before the first commit; with a detached HEAD it is the commit', async () => {
  const young = yardRepository({ committed: false });
  expect(await currentBranch(gitIn(young.root, young.env))).toBe('main');
  const { root, env, git } = yardRepository();
  git('checkout', '-q', '--detach');
  expect(await currentBranch(gitIn(root, env))).toBe(git('rev-parse', '--short', 'HEAD'));
});

test('changed files are those of git status, with umlauts; elsewhere there are none', async () => {
  const { root, env, write, folder } = yardRepository();
  expect(await changedFiles(root, env)).toEqual([]);
  write('Übung.txt', 'x');
  write('switchyard.toml', 'changed');
  expect(await changedFiles(root, env)).toEqual([' M switchyard.toml', '?? Übung.txt']);
  expect(await changedFiles(folder, env)).toEqual([]);
  expect(await changedFiles(join(folder, 'not-there'), env)).toEqual([]);
  expect(await changedFiles(root, { PATH: folder })).toEqual([]);
});
