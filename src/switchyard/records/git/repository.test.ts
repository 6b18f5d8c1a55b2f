import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { yardRepository } from '../../../../test/helpers/yard-repository.ts';
import { checkoutOf, headOf, isBare, mainCheckoutOf, prefixOf } from './repository.ts';
import { cheapestMs } from '../../../../test/helpers/cheapest.ts';

test('a directory without git has no checkout', () => {
  const { folder } = yardRepository();
  expect(checkoutOf(folder)).toBeUndefined();
  expect(prefixOf(folder)).toBe('');
});

test('a branch is known before its first commit, also in a subdirectory', () => {
  const { root } = yardRepository({ committed: false });
  mkdirSync(join(root, 'a', 'b'), { recursive: true });
  const checkout = checkoutOf(join(root, 'a', 'b'))!;
  expect(checkout).toMatchObject({ top: root, linked: false, commonDirectory: join(root, '.git') });
  expect(headOf(checkout)).toEqual({ branch: 'main', commit: undefined });
});

test('a linked worktree names its repository, and its place in it', () => {
  const { root, folder, git } = yardRepository({ below: 'apps/shop' });
  const worktree = join(folder, 'x');
  git('worktree', 'add', '-q', '-b', 'feature/ü', worktree);
  const checkout = checkoutOf(join(worktree, 'apps', 'shop'))!;
  expect(checkout).toMatchObject({ top: worktree, linked: true });
  expect(checkout.commonDirectory).toBe(checkoutOf(root)!.commonDirectory);
  expect(headOf(checkout)?.branch).toBe('feature/ü');
  expect(mainCheckoutOf(checkout)).toBe(checkoutOf(root)!.top);
  expect(prefixOf(root)).toBe('apps/shop');
});

test('with a detached HEAD, the commit is returned', () => {
  const { root, git } = yardRepository();
  git('checkout', '-q', '--detach');
  expect(headOf(checkoutOf(root)!)).toEqual({ branch: undefined, commit: git('rev-parse', 'HEAD') });
});

test('during a rebase a checkout is still on its branch', () => {
  const { root, git, write } = yardRepository();
  git('switch', '-q', '-c', 'feature');
  write('a', 'feature');
  git('add', 'a');
  git('commit', '-q', '-m', 'ours');
  git('switch', '-q', 'main');
  write('a', 'main');
  git('add', 'a');
  git('commit', '-q', '-m', 'theirs');
  expect(() => git('rebase', '-q', 'main', 'feature')).toThrow();
  expect(headOf(checkoutOf(root)!)?.branch).toBe('feature');
});

test('a submodule is a repository of its own, not a worktree', () => {
  const { root, folder } = yardRepository();
  const modules = join(folder, 'modules');
  mkdirSync(modules);
  writeFileSync(join(modules, 'HEAD'), 'ref: refs/heads/main\n');
  mkdirSync(join(root, 'module'));
  writeFileSync(join(root, 'module', '.git'), 'gitdir: ../../modules\n');
  expect(checkoutOf(join(root, 'module'))).toMatchObject({ top: join(root, 'module'), linked: false });
  expect(mainCheckoutOf(checkoutOf(join(root, 'module'))!)).toBeUndefined();
});

test('with another reference format, the files reveal nothing', () => {
  const { root } = yardRepository();
  writeFileSync(join(root, '.git', 'HEAD'), 'ref: refs/heads/.invalid\n');
  expect(headOf(checkoutOf(root)!)).toBeUndefined();
});

test('a configuration made of blank lines is read in time', () => {
  const { root } = yardRepository();
  writeFileSync(join(root, '.git/config'), '\n'.repeat(256 * 1024));
  expect(
    cheapestMs(250, () => {
      expect(isBare(join(root, '.git'))).toBe(false);
    }),
  ).toBeLessThan(250);
});
