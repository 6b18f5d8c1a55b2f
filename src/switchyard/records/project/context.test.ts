import {
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  mkdtempSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  PLAIN_CONFIG,
  yardRepository,
  type YardRepository,
} from '../../../../test/helpers/yard-repository.ts';
import { createWorktree } from '../../features/worktrees/create.ts';
import { worktreeOf } from '../state/home.ts';
import { ensureProject } from '../state/project-record.ts';
import type { ServiceRecord } from '../state/records.ts';
import { resolveBranch, scopeBranch } from './branch.ts';
import { openContext, projectRecord, type YardContext } from './context.ts';

const open = ({ env, root }: YardRepository, cwd: string = root): YardContext => openContext({ cwd, env });

/** Creates a worktree with Switchyard. */
async function made(shop: YardRepository, branch: string): Promise<string> {
  return (await createWorktree(open(shop), { branch })).worktree;
}

/** Creates a worktree with another tool. */
function theirs(shop: YardRepository, branch: string): string {
  const path = join(shop.folder, 'elsewhere', branch.replaceAll('/', '-'));
  shop.git('worktree', 'add', '-q', '-b', branch, path);
  return path;
}

async function recordService(context: YardContext, branch: string): Promise<void> {
  await context.registry.change((state) => {
    const record: ServiceRecord = {
      ...{
        project: 'shop',
        project_slug: 'shop',
        project_root: context.config.root,
        branch,
        branch_slug: branch,
      },
      ...{
        service: 'web',
        command: 'x',
        desired_port: null,
        port: 20_000,
        backend_host: '127.0.0.1',
        hostname: 'h',
      },
      ...{ url: 'u', worktree: context.config.root, pid: null, started_at: '', log_file: '' },
    };
    ensureProject(state, context.config).services[`${branch}::web`] = record;
  });
}

describe('the project', () => {
  test('is that of the nearest switchyard.toml upwards, links followed', () => {
    const shop = yardRepository();
    mkdirSync(join(shop.root, 'src', 'deep'), { recursive: true });
    symlinkSync(join(shop.root, 'src'), join(shop.folder, 'link'));
    const context = open(shop, join(shop.folder, 'link', 'deep'));
    expect(context.config.root).toBe(shop.root);
    expect(context.cwd).toBe(join(shop.root, 'src', 'deep'));
  });

  test('is an error with a next step if there is none', () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'yard-none-')));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(() => openContext({ cwd: folder, env: { SWITCHYARD_HOME: join(folder, 'home') } })).toThrow(
      expect.objectContaining({
        code: 'NO_PROJECT',
        hint: expect.stringContaining('switchyard init') as string,
      }) as Error,
    );
  });

  test('in a worktree is the parent, not the copy that git checked out there', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'feature');
    mkdirSync(join(worktree, 'src'));
    writeFileSync(join(worktree, 'switchyard.toml'), 'this is not even toml');
    expect(open(shop, join(worktree, 'src')).config.root).toBe(shop.root);
  });

  test('in a worktree of another tool is the parent too, also when the project is below the top', () => {
    const shop = yardRepository({ below: 'apps/shop' });
    const worktree = theirs(shop, 'feature');
    expect(open(shop, join(worktree, 'apps', 'shop')).config.root).toBe(shop.root);
    expect(existsSync(shop.home)).toBe(false);
  });

  test('in a worktree whose main checkout has no switchyard.toml is the worktree', () => {
    const shop = yardRepository();
    const worktree = theirs(shop, 'feature');
    shop.git('rm', '-q', 'switchyard.toml');
    expect(open(shop, worktree).config.root).toBe(worktree);
  });

  test('needs no git, and opening it writes nothing', async () => {
    const shop = yardRepository();
    rmSync(join(shop.root, '.git'), { recursive: true });
    const context = openContext({ cwd: shop.root, env: { ...shop.env, PATH: '' } });
    expect(await resolveBranch(context)).toEqual({
      ...{ branch: 'current', slug: 'current', worktree: shop.root, registered: false },
    });
    expect(scopeBranch(context)).toBeUndefined();
    expect((await resolveBranch(context, 'other')).worktree).toBe(
      worktreeOf(context.home, context.config, 'other'),
    );
    expect(existsSync(shop.home)).toBe(false);
  });
});

describe('the branch', () => {
  test('from the project is the one checked out there, and its worktree is the root, also from below', async () => {
    const shop = yardRepository();
    mkdirSync(join(shop.root, 'src'));
    const context = open(shop, join(shop.root, 'src'));
    const own = { branch: 'main', slug: 'main', worktree: shop.root, registered: false };
    expect(await resolveBranch(context)).toEqual(own);
    expect(await resolveBranch(context, 'main')).toEqual(own);
    expect(scopeBranch(context)).toBeUndefined();
    expect(scopeBranch(context, 'Feature/X')).toBe('feature-x');
    shop.git('checkout', '-q', '--detach');
    expect((await resolveBranch(context)).branch).toBe(shop.git('rev-parse', '--short=7', 'HEAD'));
  });

  test('from a worktree is that of the worktree, also from below, and so is the scope', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'feature/x');
    mkdirSync(join(worktree, 'src'));
    const context = open(shop, join(worktree, 'src'));
    const place = { branch: 'feature/x', slug: 'feature-x', worktree, registered: true };
    expect(await resolveBranch(context)).toEqual(place);
    expect(scopeBranch(context)).toBe('feature-x');
    expect(await resolveBranch(open(shop), 'feature/x')).toEqual(place);
    expect(await resolveBranch(open(shop), 'feature-x')).toEqual(place);
    expect(await resolveBranch(context, 'main')).toMatchObject({ worktree: shop.root });
  });

  test('of a worktree made by another tool can be used immediately', async () => {
    const shop = yardRepository();
    const worktree = theirs(shop, 'feature/x');
    const place = { branch: 'feature/x', slug: 'feature-x', worktree, registered: false };
    expect(await resolveBranch(open(shop, worktree))).toEqual(place);
    expect(scopeBranch(open(shop, worktree))).toBe('feature-x');
    expect(await resolveBranch(open(shop), 'feature-x')).toEqual(place);
    expect(await resolveBranch(open(shop, await made(shop, 'y')), 'feature/x')).toEqual(place);
  });

  test('of a worktree with a detached HEAD is the name that git gave it, which stays', async () => {
    const shop = yardRepository();
    const path = join(shop.folder, 'elsewhere', 'try');
    shop.git('worktree', 'add', '-q', '--detach', path);
    expect(await resolveBranch(open(shop, path))).toMatchObject({ branch: 'try', worktree: path });
    expect(await resolveBranch(open(shop), 'try')).toMatchObject({ branch: 'try', worktree: path });
  });

  test('without a worktree has the location where it would be created', async () => {
    const shop = yardRepository();
    const context = open(shop);
    expect(await resolveBranch(context, 'feature/x')).toEqual({
      ...{ branch: 'feature/x', slug: 'feature-x', registered: false },
      worktree: worktreeOf(context.home, context.config, 'feature/x'),
    });
    const config = PLAIN_CONFIG.replace('[project]', '[project]\nworktree_root = "../trees"');
    const other = yardRepository({ config });
    expect((await resolveBranch(open(other), 'feature/x')).worktree).toBe(
      join(other.folder, 'trees', 'feature-x'),
    );
  });

  test.each([
    ['registered', made],
    ['not registered', theirs],
  ] as const)('without a worktree is refused in a %s worktree of another one', async (_name, make) => {
    const shop = yardRepository();
    const worktree = await make(shop, 'feature');
    await expect(resolveBranch(open(shop, worktree), 'api')).rejects.toMatchObject({
      code: 'NO_WORKTREE',
      hint: expect.stringContaining('switchyard up --branch feature api') as string,
    });
  });

  test('whose directory was deleted keeps its location, so that the error names it', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'feature');
    renameSync(worktree, `${worktree}-moved`);
    expect(await resolveBranch(open(shop), 'feature')).toMatchObject({ worktree, registered: true });
  });

  test('of a worktree switched to another branch is the new one, unless services run under the old name', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'old');
    shop.gitIn(worktree, 'switch', '-q', '-c', 'new');
    const context = open(shop, worktree);
    expect(await resolveBranch(context)).toMatchObject({ branch: 'new', worktree });
    expect(scopeBranch(context)).toBe('new');
    expect(await resolveBranch(open(shop), 'new')).toMatchObject({ branch: 'new', worktree });

    await recordService(context, 'old');
    expect(await resolveBranch(context)).toMatchObject({ branch: 'old', worktree });
    expect(scopeBranch(context)).toBe('old');
    expect(await resolveBranch(open(shop), 'old')).toMatchObject({ branch: 'old', worktree });
    shop.gitIn(worktree, 'checkout', '-q', '--detach');
    expect(await resolveBranch(context)).toMatchObject({ branch: 'old', worktree });
  });

  test('of a project in a subdirectory has its location in the same subdirectory of the worktree', async () => {
    const shop = yardRepository({ below: 'apps/shop' });
    const worktree = await made(shop, 'feature');
    expect(worktree.endsWith('/feature/apps/shop')).toBe(true);
    expect(await resolveBranch(open(shop), 'feature')).toMatchObject({ worktree });
    expect(await resolveBranch(open(shop, worktree))).toMatchObject({ worktree, branch: 'feature' });
    const own = { branch: 'main', slug: 'main', worktree: shop.root, registered: false };
    expect(await resolveBranch(open(shop))).toEqual(own);
  });
});

test('the record of a project is created once and updated when its config changes', async () => {
  const shop = yardRepository();
  const context = open(shop);
  expect(projectRecord(context)).toBeUndefined();
  await context.registry.change((state) => ensureProject(state, context.config));
  const first = projectRecord(context)!;
  expect(first).toMatchObject({
    name: 'shop',
    slug: 'shop',
    root: shop.root,
    config: join(shop.root, 'switchyard.toml'),
  });
  expect(first.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
  await recordService(context, 'main');
  await context.registry.change((state) => ensureProject(state, { ...context.config, name: 'Kiosk' }));
  expect(projectRecord(context)).toMatchObject({ name: 'Kiosk', created_at: first.created_at });
  expect(Object.keys(projectRecord(context)!.services)).toEqual(['main::web']);
});

describe('a project whose file is broken or gone', () => {
  test('is still found by its records if allowed, with the reason', async () => {
    const shop = yardRepository();
    const worktree = await made(shop, 'feature-x');
    shop.write('switchyard.toml', '[services.web\n');
    expect(() => open(shop)).toThrow(/switchyard\.toml:1/);
    for (const cwd of [shop.root, worktree]) {
      const context = openContext({ cwd, env: shop.env, orRecorded: true });
      expect(context.problem).toMatchObject({ code: 'YARD_CONFIG' });
      expect(context.config).toMatchObject({ root: shop.root, name: 'shop', services: [] });
    }
    rmSync(join(shop.root, 'switchyard.toml'));
    const context = openContext({ cwd: shop.root, env: shop.env, orRecorded: true });
    expect(context.problem).toMatchObject({ code: 'NO_PROJECT' });
    expect(Object.keys(projectRecord(context)!.worktrees)).toEqual(['feature-x']);
  });

  test('is not invented without records', () => {
    const shop = yardRepository({ config: '[services.web\n' });
    expect(() => openContext({ cwd: shop.root, env: shop.env, orRecorded: true })).toThrow(
      /switchyard\.toml/,
    );
  });
});
