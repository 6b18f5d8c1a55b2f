import { chmodSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

describe.skipIf(process.platform === 'win32')('reading a repository', () => {
  /** A repository whose configuration names a program wherever git would run one. Returns the programs that ran. */
  function trapped(): ReturnType<typeof yardRepository> & { readonly ran: () => string[] } {
    const yard = yardRepository();
    const { root, git, folder, write } = yard;
    const trap = (name: string, then = 'true'): string => `touch '${join(folder, 'ran')}-${name}'; ${then}`;
    write('.gitattributes', '*.txt filter=a=b diff=trap\n*.md filter=endless\n');
    write('a.txt', 'text\n');
    write('a.md', 'text\n');
    git('add', '-A');
    git('commit', '-q', '-m', 'files');
    for (const [key, value] of [
      ['core.fsmonitor', trap('fsmonitor', 'exit 1')],
      ['core.pager', trap('pager', 'cat')],
      ['pager.status', trap('pager', 'cat')],
      ['alias.status', `!${trap('alias')}`],
      ['diff.external', trap('external')],
      ['diff.trap.textconv', trap('textconv', 'cat')],
      ['filter.a=b.clean', trap('clean', 'cat')],
      ['filter.a=b.required', 'true'],
      ['filter.endless.process', trap('process', 'exit 1')],
      ['core.hooksPath', join(folder, 'hooks')],
    ] as const)
      git('config', key, value);
    mkdirSync(join(folder, 'hooks'));
    for (const hook of [
      'post-index-change',
      'reference-transaction',
      'post-checkout',
      'fsmonitor-watchman',
    ]) {
      writeFileSync(join(folder, 'hooks', hook), `#!/bin/sh\n${trap('hook')}\n`);
      chmodSync(join(folder, 'hooks', hook), 0o755);
    }
    // Forces git to compare the content.
    for (const name of ['a.txt', 'a.md']) utimesSync(join(root, name), 1, 1);
    const ran = (): string[] => readdirSync(folder).filter((name) => name.startsWith('ran-'));
    return { ...yard, ran };
  }

  test('runs nothing that its configuration names', async () => {
    const { root, env, ran, write } = trapped();
    const git = gitIn(root, env);
    expect(await changedFiles(root, env)).toEqual([]);
    write('a.txt', 'changed\n');
    expect(await changedFiles(root, env)).toEqual([' M a.txt']);
    await git(['status', '--porcelain', '--untracked-files=all', '-z']);
    await git(['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']);
    await git(['for-each-ref', '--count=1', '--contains', 'HEAD']);
    await worktreeList(git);
    await currentBranch(git);
    expect(ran()).toEqual([]);
  });

  test('runs nothing that the configuration of a submodule names, but shows its commit', async () => {
    const { root, env, folder, git, write } = yardRepository();
    const inner = yardRepository();
    inner.write('.gitattributes', '*.txt filter=trap\n');
    inner.write('a.txt', 'text\n');
    inner.git('add', '-A');
    inner.git('commit', '-q', '-m', 'files');
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'inner');
    git('commit', '-q', '-m', 'submodule');
    git('-C', 'inner', 'config', 'filter.trap.clean', `touch '${join(folder, 'ran')}'; cat`);
    utimesSync(join(root, 'inner/a.txt'), 1, 1);
    expect(await changedFiles(root, env)).toEqual([]);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    write('inner/b.md', 'text\n');
    git('-C', 'inner', 'add', 'b.md');
    git('-C', 'inner', 'commit', '-q', '-m', 'more');
    expect(await changedFiles(root, env)).toEqual([' M inner']);
  });

  /** A PATH on which a shell script replaces git; `$real` is git itself. */
  function gitInstead(folder: string, script: string): { readonly PATH: string } {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const path = process.env.PATH ?? '';
    writeFileSync(join(bin, 'git'), `#!/bin/sh\nPATH='${path}'\nreal=git\n${script}\n`, { mode: 0o755 });
    return { PATH: `${bin}:${path}` };
  }

  /** Git 2.25 knows neither the scope of a setting nor settings in variables. */
  const OLD_GIT = [
    'unset GIT_CONFIG_COUNT',
    'case " $* " in *" --show-scope "*) exit 129;; esac',
    'exec "$real" "$@"',
  ].join('\n');

  test('runs no filters with an old git', async () => {
    const { root, env, ran, write, git, folder } = trapped();
    git('config', '--remove-section', 'filter.a=b');
    git('config', 'filter.plain.clean', `touch '${join(folder, 'ran-plain')}'; cat`);
    write('.gitattributes', '*.txt filter=plain\n*.md filter=endless\n');
    const old = { ...env, ...gitInstead(folder, OLD_GIT) };
    write('a.txt', 'changed\n');
    expect(await changedFiles(root, old)).toEqual([' M .gitattributes', ' M a.txt']);
    expect(ran()).toEqual([]);
  });

  test('is refused where an old git could not be told to run no filters', async () => {
    const { root, env, ran, folder } = trapped();
    const status = gitIn(root, { ...env, ...gitInstead(folder, OLD_GIT) })(['status', '--short']);
    await expect(status).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: 'Git cannot switch off the filters of this repository.',
      hint: expect.stringContaining('2.31') as string,
    });
    expect(ran()).toEqual([]);
  });

  test.each([
    ['fails', 'echo "bad config" >&2; exit 128', /git status failed: bad config/],
    ['is killed', 'kill -9 $$', /git status was killed by SIGKILL/],
  ])('is refused where looking for filters %s', async (_, then, message) => {
    const { root, env, ran, folder } = trapped();
    const script = `case " $* " in *" config "*) ${then};; esac\nexec "$real" "$@"`;
    const git = gitIn(root, { ...env, ...gitInstead(folder, script) });
    await expect(git(['status', '--short'])).rejects.toThrow(message);
    expect((await git.try(['status', '--short'])).code).not.toBe(0);
    expect(ran()).toEqual([]);
  });

  test('uses the filters of the user', async () => {
    const { root, env, folder, ran, git } = trapped();
    const config = join(folder, 'gitconfig');
    git('config', '--file', config, 'filter.mine.clean', `touch '${join(folder, 'ran-mine')}'; cat`);
    writeFileSync(join(root, '.gitattributes'), '*.txt filter=mine\n');
    expect(await changedFiles(root, { ...env, GIT_CONFIG_GLOBAL: config })).toEqual([' M .gitattributes']);
    expect(ran()).toEqual(['ran-mine']);
  });

  test('is the only safe way: git alone runs them', () => {
    const { git, ran } = trapped();
    // The filter fails.
    expect(() => git('status', '--short')).toThrow();
    git('config', '--unset', 'filter.endless.process');
    git('status', '--short');
    expect(ran()).toEqual(expect.arrayContaining(['ran-clean', 'ran-fsmonitor', 'ran-process']));
  });
});
