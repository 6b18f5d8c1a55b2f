import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  PLAIN_CONFIG,
  yardRepository,
  type YardRepository,
} from '../../../../test/helpers/yard-repository.ts';
import type { SwitchboardError } from '../../../shared/errors.ts';
import { openContext, projectRecord, type YardContext } from '../../records/project/context.ts';
import { listWorktrees } from '../../records/project/list-worktrees.ts';
import { logFileOf } from '../../records/state/home.ts';
import { withProjectLock } from '../../records/state/project-lock.ts';
import { ensureProject } from '../../records/state/project-record.ts';
import { newCookie } from '../../runtime/processes/cookie.ts';
import { observeServices } from '../../runtime/processes/observe.ts';
import { createWorktree } from './create.ts';
import { pruneWorktrees } from './prune.ts';
import { removeWorktree } from './remove.ts';

const open = ({ env, root }: YardRepository, cwd: string = root): YardContext => openContext({ cwd, env });
const made = async (shop: YardRepository, branch: string): Promise<string> =>
  (await createWorktree(open(shop), { branch })).worktree;
const branches = async (shop: YardRepository): Promise<readonly string[]> =>
  (await listWorktrees(open(shop))).map(({ branch }) => branch);

/** Starts a process of a service in the worktree and records it. Returns its pid. */
async function runIn(context: YardContext, branch: string, worktree: string): Promise<number> {
  const cookie = newCookie(context.home);
  const script = 'console.log("up"); setTimeout(() => {}, 60_000)';
  const child = spawn(process.execPath, ['-e', script], {
    ...{ cwd: worktree, detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
    env: { PATH: process.env.PATH, SWITCHYARD_COOKIE: cookie },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const record = {
    ...{
      project: 'shop',
      project_slug: 'shop',
      project_root: context.config.root,
      branch,
      branch_slug: branch,
    },
    ...{
      service: 'web',
      command: 'node',
      desired_port: null,
      port: 20_000,
      backend_host: '127.0.0.1',
      hostname: 'h',
    },
    ...{ url: 'u', worktree, pid: null, cookie, started_at: '' },
    log_file: logFileOf(context.home, context.config, branch, 'web.log'),
  };
  await context.registry.change((state) => {
    ensureProject(state, context.config).services[`${branch}::web`] = record;
  });
  return child.pid!;
}

const isAlive = (context: YardContext): boolean =>
  observeServices(Object.values(projectRecord(context)?.services ?? {})).some(
    ({ status }) => status === 'running',
  );

describe('remove', () => {
  test('waits for another project of the repository, and refuses if that has started a service meanwhile', async () => {
    const shop = yardRepository({ below: 'apps/shop' });
    shop.write('../blog/switchyard.toml', PLAIN_CONFIG.replace('shop', 'blog'));
    shop.git('add', '-A', '..');
    shop.git('commit', '-q', '-m', 'blog');
    const worktree = await made(shop, 'feature');
    const blog = open(shop, join(worktree, '../blog'));
    await blog.registry.change((state) => ensureProject(state, blog.config));
    let removed: Promise<unknown> | undefined;
    let pid: number | undefined;
    await withProjectLock(blog, { what: 'up feature' }, async () => {
      removed = removeWorktree(open(shop), { branch: 'feature' });
      removed.catch(() => undefined);
      pid = await runIn(blog, 'feature', blog.cwd);
    });
    await expect(removed).rejects.toMatchObject({
      code: 'WORKTREE_BUSY',
      message: expect.stringContaining(`web of feature runs there for blog (${blog.config.root})`) as string,
    });
    expect(existsSync(blog.cwd)).toBe(true);
    expect(() => process.kill(pid!, 0)).not.toThrow();
  });

  test.each([false, true])('refuses if another worktree is inside (force: %s)', async (force) => {
    const shop = yardRepository();
    writeFileSync(join(shop.root, '.gitignore'), 'inner/\n');
    shop.gitIn(shop.root, 'add', '-A');
    shop.gitIn(shop.root, 'commit', '-q', '-m', 'ignore');
    const outer = await made(shop, 'outer');
    const inner = join(outer, 'inner');
    await createWorktree(open(shop), { branch: 'inner', path: inner });
    writeFileSync(join(inner, 'work'), 'precious');
    await expect(removeWorktree(open(shop), { branch: 'outer', force })).rejects.toMatchObject({
      code: 'WORKTREE_HOLDS_OTHERS',
      message: expect.stringContaining(inner) as string,
    });
    expect(existsSync(join(inner, 'work'))).toBe(true);
    await removeWorktree(open(shop), { branch: 'inner', force: true });
    await removeWorktree(open(shop), { branch: 'outer', force });
    expect(existsSync(outer)).toBe(false);
  });

  test('deletes a clean worktree and keeps its branch', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'feature/x');
    writeFileSync(join(worktree, 'new'), '');
    shop.gitIn(worktree, 'add', '-A');
    shop.gitIn(worktree, 'commit', '-q', '-m', 'work');
    const result = await removeWorktree(open(shop), { branch: 'feature-x' });
    expect(result).toMatchObject({ ok: true, action: 'remove', branch: 'feature/x', worktree });
    expect(result.messages).toEqual([
      `removed ${worktree}`,
      'branch feature/x is kept; git branch -d feature/x deletes it',
    ]);
    expect(existsSync(worktree)).toBe(false);
    expect(await branches(shop)).toEqual([]);
    expect(shop.git('log', '-1', '--format=%s', 'feature/x')).toBe('work');
    expect(readdirSync(open(shop).home.worktrees)).toEqual([]);
  });

  test('shows git commands with shell quoting, for any branch and directory', async () => {
    const shop = yardRepository();
    const branch = `it's;touch\${IFS}owned&$(id)`;
    const path = join(shop.folder, 'a "dir" of $HOME');
    const paste = (text: string, command: RegExp): string =>
      execFileSync('sh', ['-c', command.exec(text)![0]], {
        cwd: shop.root,
        env: shop.env,
        encoding: 'utf8',
      });
    await createWorktree(open(shop), { branch, path });
    shop.git('worktree', 'lock', path);
    const hintOf = (refused: Promise<unknown>): Promise<string> =>
      refused.then(
        () => 'it was not refused',
        (error: unknown) => (error as SwitchboardError).hint ?? '',
      );
    paste(await hintOf(removeWorktree(open(shop), { branch })), /git worktree unlock [^`]*/);
    paste(
      await hintOf(createWorktree(open(shop), { branch, path: '../an other' })),
      /git worktree move [^`]*/,
    );
    const moved = join(shop.folder, 'an other');
    expect((await listWorktrees(open(shop))).map((each) => each.path)).toContain(moved);
    await pruneWorktrees(open(shop));
    const { messages } = await removeWorktree(open(shop), { branch });
    expect(messages[0]).toBe(`removed ${moved}`);
    paste(messages[1]!, /git branch -d .*(?= deletes it)/);
    expect(shop.git('branch', '--format=%(refname:short)')).toBe('main');
    expect(existsSync(join(shop.root, 'owned'))).toBe(false);
  });

  test('refuses if something would be lost, and names it', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'x');
    for (let i = 0; i < 12; i++) writeFileSync(join(worktree, `file${String(i).padStart(2, '0')}`), '');
    writeFileSync(join(worktree, 'switchyard.toml'), 'changed');
    await expect(removeWorktree(open(shop), { branch: 'x' })).rejects.toMatchObject({
      code: 'WORKTREE_DIRTY',
      message: expect.stringMatching(
        /uncommitted changes: switchyard\.toml, file00, .* and 3 more\.$/,
      ) as string,
      hint: expect.stringContaining('switchyard remove x --force') as string,
    });
    expect(existsSync(join(worktree, 'file00'))).toBe(true);
    expect(await branches(shop)).toEqual(['x']);
    await removeWorktree(open(shop), { branch: 'x', force: true });
    expect(existsSync(worktree)).toBe(false);
  });

  test('ignores env files that the project has too, ignored or not', async () => {
    const config = `${PLAIN_CONFIG}[env]\nlink = [".env", "deep/link"]\ncopy = ["data", "plain"]\n`;
    const shop = yardRepository({ config });
    for (const path of ['.env', 'deep/link', 'data/a', 'data/b', 'plain']) shop.write(path, path);
    const worktree = await made(shop, 'x');
    writeFileSync(join(worktree, 'data', 'b'), 'changed');
    await expect(removeWorktree(open(shop), { branch: 'x' })).rejects.toThrow(
      /uncommitted changes: data\/b\.$/,
    );
    expect(existsSync(join(worktree, '.env'))).toBe(true);
    rmSync(join(worktree, 'data', 'b'));
    await removeWorktree(open(shop), { branch: 'x' });
    expect(existsSync(worktree)).toBe(false);
    expect(existsSync(join(shop.root, '.env'))).toBe(true);
  });

  test('refuses if commits are on no branch', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'x');
    shop.gitIn(worktree, 'checkout', '-q', '--detach');
    shop.gitIn(worktree, 'commit', '-q', '--allow-empty', '-m', 'lost');
    await expect(removeWorktree(open(shop), { branch: 'x' })).rejects.toThrow(
      'has commits that are on no branch',
    );
    shop.gitIn(worktree, 'branch', 'kept');
    await removeWorktree(open(shop), { branch: 'x' });
    expect(existsSync(worktree)).toBe(false);
  });

  test('stops its services, but not if it refuses', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'x');
    const context = open(shop);
    await runIn(context, 'x', worktree);
    writeFileSync(join(worktree, 'new'), '');
    await expect(removeWorktree(context, { branch: 'x' })).rejects.toMatchObject({ code: 'WORKTREE_DIRTY' });
    expect(isAlive(context)).toBe(true);
    const { messages } = await removeWorktree(context, { branch: 'x', force: true });
    expect(messages[0]).toContain('stopped web');
    expect(projectRecord(context)!.services).toEqual({});
    expect(existsSync(worktree)).toBe(false);
  });

  test('asks before it stops a running service, and only then', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'x');
    const context = open(shop);
    await runIn(context, 'x', worktree);
    const refused = {
      code: 'WORKTREE_BUSY',
      message: 'Nothing was removed: web of x is running.',
      hint: expect.stringContaining('switchyard remove x --yes') as string,
    };
    await expect(removeWorktree(context, { branch: 'x' })).rejects.toMatchObject(refused);
    const asked: (readonly string[])[] = [];
    const answer = (yes: boolean) => (services: readonly string[]) => {
      asked.push(services);
      return yes;
    };
    const no = removeWorktree(context, { branch: 'x', mayStop: answer(false) });
    await expect(no).rejects.toMatchObject(refused);
    expect(isAlive(context)).toBe(true);
    const { messages } = await removeWorktree(context, { branch: 'x', mayStop: answer(true) });
    expect(messages[0]).toContain('stopped web');
    expect(existsSync(worktree)).toBe(false);
    expect(asked).toEqual([['web'], ['web']]);
    await made(shop, 'idle');
    await removeWorktree(context, { branch: 'idle', mayStop: answer(false) });
    expect(asked).toHaveLength(2);
  });

  test('refuses while a recorded process cannot be proven to be ours', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'x');
    const context = open(shop);
    await runIn(context, 'x', worktree);
    await context.registry.change((state) => {
      const record = state.projects[shop.root]!.services['x::web']!;
      record.pid = process.pid;
      delete record.cookie;
    });
    await expect(removeWorktree(context, { branch: 'x', force: true })).rejects.toMatchObject({
      code: 'WORKTREE_BUSY',
    });
    expect(existsSync(worktree)).toBe(true);
  });

  test('works for a worktree of another tool, for one whose directory is gone, and from within', async () => {
    const shop = yardRepository();
    const theirs = join(shop.folder, 'theirs');
    shop.git('worktree', 'add', '-q', '-b', 'theirs', theirs);
    await removeWorktree(open(shop), { branch: 'theirs' });
    expect(existsSync(theirs)).toBe(false);

    rmSync(await made(shop, 'gone'), { recursive: true });
    await removeWorktree(open(shop), { branch: 'gone' });
    expect(await branches(shop)).toEqual([]);

    const inside = await made(shop, 'inside');
    const { messages } = await removeWorktree(open(shop, inside), { branch: 'inside' });
    expect(messages.at(-1)).toBe(`the current directory was removed; change to ${shop.root}`);
  });

  test('refuses the project itself, a missing worktree, and one locked by git', async () => {
    const shop = yardRepository();
    const locked = await made(shop, 'locked');
    shop.git('worktree', 'lock', locked);
    await expect(removeWorktree(open(shop), { branch: 'main', force: true })).rejects.toMatchObject({
      code: 'IS_PROJECT',
    });
    await expect(removeWorktree(open(shop), { branch: 'lokced' })).rejects.toMatchObject({
      code: 'NO_WORKTREE',
      hint: 'Did you mean "locked"?',
    });
    await expect(removeWorktree(open(shop), { branch: 'locked' })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      hint: expect.stringContaining('git worktree unlock') as string,
    });
    expect(existsSync(locked)).toBe(true);
  });
});

describe('prune', () => {
  test('forgets worktrees whose directory is gone, and no others', async () => {
    const shop = yardRepository();
    expect((await pruneWorktrees(open(shop))).messages).toEqual(['nothing to prune']);
    const [gone] = [await made(shop, 'gone'), await made(shop, 'there')];
    const theirs = join(shop.folder, 'theirs');
    shop.git('worktree', 'add', '-q', '-b', 'theirs', theirs);
    for (const path of [gone, theirs]) rmSync(path, { recursive: true });
    expect(await listWorktrees(open(shop))).toMatchObject([
      { branch: 'gone', missing: true },
      { branch: 'theirs', missing: true, adopted: true },
      { branch: 'there' },
    ]);
    const result = await pruneWorktrees(open(shop));
    expect(result.pruned).toEqual(['gone', 'theirs']);
    expect(result.messages[0]).toBe(`forgot the worktree of gone; ${gone} is gone`);
    expect(await branches(shop)).toEqual(['there']);
    expect(shop.git('worktree', 'list')).not.toContain('gone');
  });

  test('leaves running services alone and says how to stop them', async () => {
    const shop = yardRepository();
    const context = open(shop);
    const worktree = await made(shop, 'x');
    await runIn(context, 'x', worktree);
    rmSync(worktree, { recursive: true });
    const { messages } = await pruneWorktrees(context);
    expect(messages).toContain('web of x still runs; stop it with `switchyard down --branch x`');
    expect(isAlive(context)).toBe(true);
  });

  test('keeps a locked worktree: it may be on a disk that is not mounted', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'x');
    shop.git('worktree', 'lock', worktree);
    rmSync(worktree, { recursive: true });
    const { pruned, messages } = await pruneWorktrees(open(shop));
    expect(pruned).toEqual([]);
    expect(messages).toEqual([`kept the worktree of x, which is locked; ${worktree} does not exist`]);
    expect(await listWorktrees(open(shop))).toMatchObject([{ branch: 'x', missing: true, locked: true }]);
  });
});

describe('list', () => {
  test('shows ours and those of other tools, not the project itself, and writes nothing', async () => {
    const shop = yardRepository();
    const theirs = join(shop.folder, 'theirs');
    shop.git('worktree', 'add', '-q', '-b', 'feature/theirs', theirs);
    expect(await listWorktrees(open(shop))).toEqual([
      {
        branch: 'feature/theirs',
        slug: 'feature-theirs',
        path: theirs,
        updated_at: expect.any(String) as string,
        adopted: true,
      },
    ]);
    expect(existsSync(shop.home)).toBe(false);
    await made(shop, 'ours');
    const listed = await listWorktrees(open(shop, theirs));
    expect(listed.map(({ branch, adopted }) => [branch, adopted])).toEqual([
      ['feature/theirs', true],
      ['ours', undefined],
    ]);
  });

  test('of a project without git is empty', async () => {
    const shop = yardRepository();
    rmSync(join(shop.root, '.git'), { recursive: true });
    expect(await listWorktrees({ ...open(shop), env: { PATH: '' } })).toEqual([]);
  });

  test('works with a bare repository and its worktrees', async () => {
    const shop = yardRepository();
    const bare = join(shop.folder, 'bare', 'shop.git');
    mkdirSync(join(shop.folder, 'bare'));
    shop.git('clone', '-q', '--bare', '.', bare);
    for (const name of ['a', 'b']) shop.gitIn(bare, 'worktree', 'add', '-q', '-b', name, `../${name}`);
    const context = open(shop, join(shop.folder, 'bare', 'a'));
    expect(context.config.root).toBe(join(shop.folder, 'bare', 'a'));
    expect((await listWorktrees(context)).map(({ branch }) => branch)).toEqual(['b']);
  });
});
