import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import {
  PLAIN_CONFIG,
  yardRepository,
  type YardRepository,
} from '../../../../test/helpers/yard-repository.ts';
import { describeProcess } from '../../../process/index.ts';
import { openContext, projectRecord, type YardContext } from '../../records/project/context.ts';
import { listWorktrees } from '../../records/project/list-worktrees.ts';
import { ensureProject } from '../../records/state/project-record.ts';
import { createWorktree } from './create.ts';

const open = ({ env, root }: YardRepository, cwd: string = root): YardContext => openContext({ cwd, env });
const branchIn = (shop: YardRepository, path: string): string => shop.gitIn(path, 'branch', '--show-current');

/** The same project with a remote that has the given branches. */
function withRemote(name: string, shop: YardRepository, ...branches: readonly string[]): void {
  const remote = join(shop.folder, `${name}.git`);
  shop.git('clone', '-q', '--bare', '.', remote);
  for (const branch of branches) shop.gitIn(remote, 'branch', branch, 'main');
  shop.git('remote', 'add', name, remote);
  shop.git('fetch', '-q', name);
}

describe('a new worktree', () => {
  test('is created for a new branch, in the home, and registered', async () => {
    const shop = yardRepository();
    const context = open(shop);
    const made = await createWorktree(context, { branch: 'feature/x' });
    expect(made).toEqual({
      ok: true,
      action: 'create',
      created: true,
      branch: 'feature/x',
      worktree: made.worktree,
      env: [],
    });
    expect(made.worktree).toMatch(/\/home\/worktrees\/shop-[0-9a-f]{8}\/feature-x$/);
    expect(branchIn(shop, made.worktree)).toBe('feature/x');
    expect(projectRecord(context)!.worktrees).toMatchObject({
      'feature-x': { branch: 'feature/x', slug: 'feature-x', path: made.worktree },
    });
    expect(statSync(join(made.worktree, '..')).mode & 0o777).toBe(0o700);
  });

  test('gets the env files, linked and copied, and those in .worktreeinclude', async () => {
    const shop = yardRepository({
      config: `${PLAIN_CONFIG}[env]\nlink = [".env"]\ncopy = ["data", "none"]\n`,
    });
    shop.write('.gitignore', '.env\n*.secret\n');
    shop.write('.worktreeinclude', '*.secret\n.env\n');
    for (const path of ['.env', 'data/a', 'b.secret']) shop.write(path, path);
    const { worktree, env } = await createWorktree(open(shop), { branch: 'x' });
    expect(env).toEqual(['linked .env', 'copied data', 'missing copy source none', 'copied b.secret']);
    expect(lstatSync(join(worktree, '.env')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(worktree, 'data', 'a'), 'utf8')).toBe('data/a');
  });

  test('starts at --base, and uses an existing branch unchanged', async () => {
    const shop = yardRepository();
    shop.git('tag', 'v1');
    shop.git('branch', 'old');
    shop.write('later', '');
    shop.git('add', '-A');
    shop.git('commit', '-q', '-m', 'later');
    const based = await createWorktree(open(shop), { branch: 'new', base: 'v1' });
    expect(existsSync(join(based.worktree, 'later'))).toBe(false);
    const fresh = await createWorktree(open(shop), { branch: 'fresh' });
    expect(existsSync(join(fresh.worktree, 'later'))).toBe(true);
    const old = await createWorktree(open(shop), { branch: 'old', base: 'main' });
    expect(existsSync(join(old.worktree, 'later'))).toBe(false);
    expect(old.message).toContain('--base was ignored');
  });

  test('tracks the branch of the remote if only that exists', async () => {
    const shop = yardRepository();
    withRemote('origin', shop, 'theirs', 'both');
    withRemote('fork', shop, 'both');
    const made = await createWorktree(open(shop), { branch: 'theirs' });
    expect(shop.gitIn(made.worktree, 'rev-parse', '--abbrev-ref', '@{upstream}')).toBe('origin/theirs');
    const both = await createWorktree(open(shop), { branch: 'both' });
    expect(shop.gitIn(both.worktree, 'rev-parse', '--abbrev-ref', '@{upstream}')).toBe('origin/both');
  });

  test('of a branch on several remotes, none of them origin, needs a choice', async () => {
    const shop = yardRepository();
    withRemote('a', shop, 'both');
    withRemote('b', shop, 'both');
    await expect(createWorktree(open(shop), { branch: 'both' })).rejects.toMatchObject({
      code: 'BRANCH_AMBIGUOUS',
      message: 'Several remotes have both: a/both, b/both.',
    });
    const { worktree } = await createWorktree(open(shop), { branch: 'both', base: 'b/both' });
    expect(branchIn(shop, worktree)).toBe('both');
  });

  test('is created at --path or worktree_root, relative to the current directory or the project', async () => {
    const config = PLAIN_CONFIG.replace('[project]', '[project]\nworktree_root = ".trees"');
    const shop = yardRepository({ config });
    mkdirSync(join(shop.root, 'src'));
    const context = open(shop, join(shop.root, 'src'));
    expect((await createWorktree(context, { branch: 'a/b' })).worktree).toBe(
      join(shop.root, '.trees', 'a-b'),
    );
    const there = await createWorktree(context, { branch: 'c', path: '../../there' });
    expect(there.worktree).toBe(join(shop.folder, 'there'));
    expect((await listWorktrees(context)).map(({ branch }) => branch)).toEqual(['a/b', 'c']);
  });

  test.each(['feature/größer', 'UPPER_case.1', `${'long-name/'.repeat(25)}end`, 'constructor'])(
    'may be called %s',
    async (branch) => {
      const shop = yardRepository();
      const { worktree, created } = await createWorktree(open(shop), { branch });
      expect(created).toBe(true);
      expect(branchIn(shop, worktree)).toBe(branch);
      expect((await createWorktree(open(shop), { branch })).created).toBe(false);
    },
  );
});

describe('asked again', () => {
  test('for a registered branch adds missing env files, and keeps existing ones', async () => {
    const shop = yardRepository({ config: `${PLAIN_CONFIG}[env]\nlink = [".env"]\n` });
    const { worktree } = await createWorktree(open(shop), { branch: 'x' });
    shop.write('.env', '');
    const again = await createWorktree(open(shop), { branch: 'x' });
    expect(again).toMatchObject({
      created: false,
      worktree,
      env: ['linked .env'],
      message: 'worktree already registered',
    });
    rmSync(join(worktree, '.env'));
    writeFileSync(join(worktree, '.env'), 'its own');
    expect(await createWorktree(open(shop), { branch: 'x' })).toMatchObject({ created: false, env: [] });
    expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('its own');
    const forced = await createWorktree(open(shop), { branch: 'x', forceEnv: true });
    expect(forced).toMatchObject({ created: false, env: ['linked .env'] });
  });

  test('for a branch with a worktree of another tool registers it and adds its env files', async () => {
    const shop = yardRepository({ config: `${PLAIN_CONFIG}[env]\nlink = [".env"]\n` });
    shop.write('.env', '');
    const path = join(shop.folder, 'theirs');
    shop.git('worktree', 'add', '-q', '-b', 'x', path);
    const taken = await createWorktree(open(shop), { branch: 'x' });
    expect(taken).toMatchObject({ created: false, worktree: path, env: ['linked .env'] });
    expect(projectRecord(open(shop))!.worktrees['x']).toMatchObject({ path, adopted: true });
    expect(await createWorktree(open(shop), { branch: 'x' })).toMatchObject({
      message: 'worktree already registered',
    });
  });

  test('after a command that was killed before registering the worktree treats it as ours', async () => {
    const shop = yardRepository();
    const { worktree } = await createWorktree(open(shop), { branch: 'x' });
    await open(shop).registry.change((state) => void (state.projects = {}));
    expect(await createWorktree(open(shop), { branch: 'x' })).toMatchObject({
      ...{ created: false, worktree, message: 'worktree registered' },
    });
    expect(projectRecord(open(shop))!.worktrees['x']!.adopted).toBeUndefined();
  });

  test('for the branch of the project itself returns the project', async () => {
    const shop = yardRepository();
    expect(await createWorktree(open(shop), { branch: 'main' })).toMatchObject({
      created: false,
      worktree: shop.root,
    });
    expect(projectRecord(open(shop))).toBeUndefined();
  });

  test('for another path says where the branch is', async () => {
    const shop = yardRepository();
    const { worktree } = await createWorktree(open(shop), { branch: 'x' });
    for (const [branch, place] of [
      ['x', worktree],
      ['main', shop.root],
    ] as const) {
      await expect(createWorktree(open(shop), { branch, path: '../y' })).rejects.toMatchObject({
        code: 'WORKTREE_ELSEWHERE',
        message: expect.stringContaining(place) as string,
      });
    }
  });

  test('recreates the worktree of a branch whose directory was deleted', async () => {
    const shop = yardRepository();
    const { worktree } = await createWorktree(open(shop), { branch: 'x' });
    rmSync(worktree, { recursive: true });
    const again = await createWorktree(open(shop), { branch: 'x' });
    expect(again).toMatchObject({ created: true, worktree });
    rmSync(worktree, { recursive: true });
    const elsewhere = await createWorktree(open(shop), { branch: 'x', path: '../there' });
    expect(elsewhere.worktree).toBe(join(shop.folder, 'there'));
    expect(branchIn(shop, elsewhere.worktree)).toBe('x');
  });

  test('twice at once creates it once', async () => {
    const shop = yardRepository();
    const both = await Promise.all([1, 2].map(() => createWorktree(open(shop), { branch: 'x' })));
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect(both[0]!.worktree).toBe(both[1]!.worktree);
  });
});

describe('refused', () => {
  test.each(['-b', '', 'a..b', 'a b', 'x.lock', '@{-1}', 'HEAD', 'a~1', '/x', 'a\nb'])(
    'is the name %j',
    async (branch) => {
      const shop = yardRepository();
      shop.git('switch', '-q', '-c', 'before');
      shop.git('switch', '-q', 'main');
      await expect(createWorktree(open(shop), { branch })).rejects.toMatchObject({ code: 'BRANCH_NAME' });
      expect(existsSync(shop.home)).toBe(false);
    },
  );

  test('is a branch with the slug of another one, before git does anything', async () => {
    const shop = yardRepository();
    await createWorktree(open(shop), { branch: 'feature/x' });
    shop.git('worktree', 'add', '-q', '-b', 'fix-1', join(shop.folder, 'theirs'));
    shop.git('switch', '-q', '-c', 'own/branch');
    for (const [other, branch] of [
      ['feature/x', 'feature-x'],
      ['fix-1', 'fix/1'],
      ['own/branch', 'own_branch'],
    ] as const) {
      await expect(createWorktree(open(shop), { branch })).rejects.toMatchObject({
        code: 'BRANCH_COLLISION',
        message: `Branch names collide after slugging: ${other} and ${branch}.`,
      });
    }
    expect(shop.git('branch', '--list', 'feature-x', 'fix/1', 'own_branch')).toBe('');
  });

  test('is an existing path, which stays unchanged', async () => {
    const shop = yardRepository();
    mkdirSync(join(shop.folder, 'there'));
    await createWorktree(open(shop), { branch: 'empty-is-fine', path: '../there' });
    mkdirSync(join(shop.folder, 'full'));
    writeFileSync(join(shop.folder, 'full', 'file'), '');
    for (const path of ['../full', '../full/file']) {
      await expect(createWorktree(open(shop), { branch: 'x', path })).rejects.toThrow(
        'The worktree path already exists and is not empty',
      );
    }
    expect(shop.git('branch', '--list', 'x')).toBe('');
  });

  test('is an env file outside the project, before git does anything', async () => {
    const shop = yardRepository({ config: `${PLAIN_CONFIG}[env]\ncopy = ["escape"]\n` });
    symlinkSync(join(shop.folder, 'home'), join(shop.root, 'escape'));
    await expect(createWorktree(open(shop), { branch: 'x' })).rejects.toThrow(
      'env source escapes project root',
    );
    expect(shop.git('branch', '--list', 'x')).toBe('');
  });

  test('is a base that does not exist, in the words of git', async () => {
    const shop = yardRepository();
    await expect(createWorktree(open(shop), { branch: 'x', base: 'nowhere' })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringMatching(/^git worktree add failed: .*nowhere/s) as string,
    });
    await expect(createWorktree(open(shop), { branch: 'x', base: '--force' })).rejects.toMatchObject({
      code: 'GIT_BASE',
    });
  });

  test('is a repository without a commit, with what to do', async () => {
    const shop = yardRepository({ committed: false });
    await expect(createWorktree(open(shop), { branch: 'x' })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      hint: 'The repository has no commits yet. Make the first commit, then try again.',
    });
  });

  test('is a project without git, and git that is missing', async () => {
    const shop = yardRepository();
    const blind = { ...open(shop), env: { ...shop.env, PATH: shop.folder } };
    await expect(createWorktree(blind, { branch: 'x' })).rejects.toMatchObject({ code: 'GIT_MISSING' });
    rmSync(join(shop.root, '.git'), { recursive: true });
    await expect(createWorktree(open(shop), { branch: 'x' })).rejects.toMatchObject({
      code: 'NOT_A_REPOSITORY',
    });
  });

  test('is a branch in the worktree of another one whose services are recorded', async () => {
    const shop = yardRepository();
    const context = open(shop);
    const { worktree } = await createWorktree(context, { branch: 'old' });
    shop.gitIn(worktree, 'switch', '-q', '-c', 'new');
    await context.registry.change((state) => {
      ensureProject(state, context.config).services['old::web'] = {
        ...{
          project: 'shop',
          project_slug: 'shop',
          project_root: shop.root,
          branch: 'old',
          branch_slug: 'old',
        },
        ...{
          service: 'web',
          command: 'x',
          desired_port: null,
          port: 20_000,
          backend_host: '127.0.0.1',
          hostname: 'h',
        },
        ...{ url: 'u', worktree, pid: null, started_at: '', log_file: '' },
      };
    });
    await expect(createWorktree(context, { branch: 'new' })).rejects.toMatchObject({
      code: 'BRANCH_BUSY',
      hint: expect.stringContaining('switchyard down --branch old') as string,
    });
  });
});

test('a failure with env files leaves the worktree in place and registered', async () => {
  const shop = yardRepository({ config: `${PLAIN_CONFIG}[env]\ncopy = ["config/a"]\n` });
  symlinkSync('/', join(shop.root, 'config'));
  shop.git('add', '-A');
  shop.git('commit', '-q', '-m', 'a link out of the worktree');
  rmSync(join(shop.root, 'config'));
  shop.write('config/a', '');
  await expect(createWorktree(open(shop), { branch: 'x' })).rejects.toMatchObject({
    code: 'ENV_SYNC',
    message: expect.stringContaining('env target escapes worktree: config/a') as string,
  });
  const [listed] = await listWorktrees(open(shop));
  expect(listed).toMatchObject({ branch: 'x' });
  expect(existsSync(listed!.path)).toBe(true);
});

test('says which hooks ran, in whichever directory they are', async () => {
  const shop = yardRepository();
  expect(await createWorktree(open(shop), { branch: 'quiet' })).not.toHaveProperty('message');
  const hooks = join(shop.folder, 'hooks');
  mkdirSync(hooks);
  shop.git('config', 'core.hooksPath', hooks);
  writeFileSync(join(hooks, 'post-checkout'), `#!/bin/sh\necho done > '${join(shop.folder, 'ran')}'\n`);
  writeFileSync(join(hooks, 'post-index-change'), 'not executable');
  chmodSync(join(hooks, 'post-checkout'), 0o755);
  const made = await createWorktree(open(shop), { branch: 'x' });
  expect(made.message).toBe('git ran hooks of this repository: post-checkout');
  expect(existsSync(join(shop.folder, 'ran'))).toBe(true);
});

test('a failing hook is reported, and the worktree still counts', async () => {
  const shop = yardRepository();
  const hook = join(shop.root, '.git', 'hooks', 'post-checkout');
  writeFileSync(hook, '#!/bin/sh\necho "the hook is unhappy" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  const made = await createWorktree(open(shop), { branch: 'x' });
  expect(made.created).toBe(true);
  expect(made.message).toMatch(
    /^git ran hooks of this repository: post-checkout; git said: .*the hook is unhappy/s,
  );
  expect(projectRecord(open(shop))!.worktrees['x']).toMatchObject({ path: made.worktree });
});

test.runIf(process.platform !== 'win32')(
  'when aborted stops git and its hooks; when repeated, it is registered',
  async () => {
    const shop = yardRepository();
    const hook = join(shop.root, '.git', 'hooks', 'post-checkout');
    writeFileSync(hook, '#!/bin/sh\necho $$ > "$HOOK_PID"\nexec sleep 600\n');
    chmodSync(hook, 0o755);
    const note = join(shop.folder, 'hook-pid');
    const context = openContext({ cwd: shop.root, env: { ...shop.env, HOOK_PID: note } });
    const stop = new AbortController();
    const making = createWorktree(context, { branch: 'x', signal: stop.signal });
    const failure = expect(making).rejects.toMatchObject({ code: 'STOPPED' });
    const pid = await until(() => (existsSync(note) ? Number(readFileSync(note, 'utf8')) : 0));
    stop.abort();
    await failure;
    await until(() => describeProcess(pid) === undefined, { what: 'the hook to end' });

    rmSync(hook);
    const again = await createWorktree(open(shop), { branch: 'x' });
    expect(again.message).toBe('worktree registered');
    expect(branchIn(shop, again.worktree)).toBe('x');
  },
);
