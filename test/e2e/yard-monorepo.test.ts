/** Several projects in one repository, and repositories that are nothing but worktrees. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import { freePort } from '../helpers/yard-home.ts';
import { serviceCommand } from '../helpers/yard-traffic.ts';
import { createYard, type TestYard } from '../helpers/yard.ts';

interface Place extends TestYard {
  /** Runs `switchyard` with `--json` in a directory; throws when the exit code is not 0. */
  askIn(cwd: string, ...args: string[]): Promise<any>;
  gitIn(cwd: string, ...args: string[]): string;
  /** The brief that `switchyard mcp`, started in a directory, gives an agent. */
  briefOver(cwd: string): Promise<any>;
}

/** A folder in which a repository can be made; `files` are there at the start. */
function place(files: Readonly<Record<string, string>>): Place {
  const yard = createYard({ git: false, files });
  return {
    ...yard,
    async askIn(cwd, ...args) {
      const ran = await yard.run([...args, '--json'], { cwd });
      expect(ran.code, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).toBe(0);
      return ran.json;
    },
    gitIn: (cwd, ...args) => execFileSync('git', args, { cwd, env: yard.env, encoding: 'utf8' }),
    async briefOver(cwd) {
      const call = { method: 'tools/call', params: { name: 'switchyard_brief', arguments: {} } };
      const lines = [
        {
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 't', version: '0' },
          },
        },
        { method: 'notifications/initialized' },
        { id: 2, ...call },
      ];
      const input = lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join('');
      const ran = await yard.run(['mcp'], { cwd, input });
      const [, answer] = ran.stdout.trimEnd().split('\n');
      return JSON.parse(answer!).result.structuredContent;
    },
  };
}

async function project(name?: string): Promise<string> {
  return (
    (name === undefined ? '' : `[project]\nname = "${name}"\n`) +
    `[proxy]\nport = ${await freePort()}\n[ports]\nstart = 26000\nend = 26999\n` +
    `[services.web]\ncommand = "${serviceCommand('plain-http')}"\nready_timeout = 40\n`
  );
}

/** A repository with two projects side by side. */
async function monorepo(): Promise<Place & { readonly top: string }> {
  const yard = place({
    'mono/apps/shop/switchyard.toml': await project('shop'),
    'mono/apps/blog/switchyard.toml': await project('blog'),
  });
  const top = yard.path('mono');
  yard.gitIn(top, 'init', '-q', '-b', 'main');
  yard.gitIn(top, 'add', '-A');
  yard.gitIn(top, 'commit', '-q', '-m', 'start');
  return { ...yard, top };
}

describe('in a worktree of a repository with several projects', () => {
  test.each(['switchyard', 'git'])('made by %s, the folder says which one is meant', async (maker) => {
    const yard = await monorepo();
    const worktree = yard.path('feature');
    if (maker === 'git') yard.gitIn(yard.top, 'worktree', 'add', '-q', '-b', 'feature', worktree);
    else await yard.askIn(join(yard.top, 'apps/shop'), 'create', 'feature', '--path', worktree);

    for (const name of ['blog', 'shop']) {
      const [root, here] = [yard.top, worktree].map((top) => join(top, 'apps', name)) as [string, string];
      expect(await yard.askIn(here, 'doctor')).toMatchObject({ project: { name, root } });
      expect(await yard.askIn(here, 'up')).toMatchObject({ branch: 'feature', worktree: here });
      const found = await yard.askIn(here, 'where', 'web');
      expect(found).toMatchObject({ project: name, project_root: root, branch: 'feature', worktree: here });
      expect((await yard.askIn(here, 'status')).services).toMatchObject([
        { project: name, branch: 'feature' },
      ]);
      expect(await yard.askIn(here, 'brief')).toMatchObject({ project: name, branch: 'feature' });
      expect(await yard.briefOver(here)).toMatchObject({
        project: name,
        project_root: root,
        branch: 'feature',
      });
    }
    expect(await yard.askIn(join(worktree, 'apps/blog'), 'down')).toMatchObject({
      messages: ['stopped web'],
    });
    expect((await yard.askIn(join(worktree, 'apps/shop'), 'status')).services).toHaveLength(1);
  });

  test('a project that exists only on this branch is a project of its own', async () => {
    const yard = await monorepo();
    const { worktree } = await yard.askIn(join(yard.top, 'apps/shop'), 'create', 'feature');
    const fresh = join(worktree, '../fresh');
    mkdirSync(fresh);
    writeFileSync(join(fresh, 'switchyard.toml'), await project('fresh'));
    expect(await yard.askIn(fresh, 'doctor')).toMatchObject({ project: { name: 'fresh', root: fresh } });
  });
});

describe('remove', () => {
  test('refuses while a service of another project runs in the worktree, and says how to stop it', async () => {
    const yard = await monorepo();
    const shop = join(yard.top, 'apps/shop');
    const { worktree } = await yard.askIn(shop, 'create', 'feature');
    await yard.askIn(shop, 'up', 'feature');
    const blog = join(worktree, '../blog');
    await yard.askIn(blog, 'up');
    const { pid } = await yard.askIn(blog, 'where', 'web');

    for (const more of [[], ['--force']]) {
      const refused = await yard.run(['remove', 'feature', ...more], { cwd: shop });
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`web of feature runs there for blog (${join(yard.top, 'apps/blog')})`);
      expect(refused.stderr).toContain('switchyard down --project blog --branch feature');
    }
    expect(existsSync(join(blog, 'switchyard.toml'))).toBe(true);
    expect(alive(pid)).toBe(true);
    // Nothing was stopped for a removal that did not happen.
    expect((await yard.askIn(shop, 'status')).services).toMatchObject([{ status: 'running' }]);

    await yard.askIn(shop, 'down', '--project', 'blog', '--branch', 'feature');
    await yard.askIn(shop, 'remove', 'feature', '--yes');
    expect(existsSync(worktree)).toBe(false);
    for (const cwd of [shop, join(yard.top, 'apps/blog')])
      expect(await yard.askIn(cwd, 'list')).toEqual({ worktrees: [] });
  });

  test('refuses while a service of a repository inside the worktree runs', async () => {
    const yard = await monorepo();
    const shop = join(yard.top, 'apps/shop');
    const { worktree } = await yard.askIn(shop, 'create', 'feature');
    const inner = join(worktree, 'vendor/tool');
    yard.gitIn(yard.top, 'clone', '-q', '.', inner);
    const nested = join(inner, 'apps/blog');
    expect(await yard.askIn(nested, 'doctor')).toMatchObject({ project: { root: nested } });
    await yard.askIn(nested, 'up');
    const refused = await yard.run(['remove', 'feature', '--force'], { cwd: shop });
    expect(refused.stderr).toContain(`web of main runs there for blog (${nested})`);
    expect(existsSync(nested)).toBe(true);
    await yard.askIn(nested, 'down');
    await yard.askIn(shop, 'remove', 'feature', '--force');
    expect(existsSync(worktree)).toBe(false);
  });
});

describe('a bare repository with worktrees is one project', () => {
  /** How people lay it out: where the repository is, and its worktrees. */
  const layouts: readonly [string, string, string][] = [
    ['shop.git beside them', 'shop.git', '.'],
    ['.bare with a .git file', 'shop/.bare', 'shop'],
    ['a bare .git', 'shop/.git', 'shop'],
  ];

  test.each(layouts)('%s', async (_name, repository, folder) => {
    const yard = place({ 'origin/switchyard.toml': await project() });
    const origin = yard.path('origin');
    yard.gitIn(origin, 'init', '-q', '-b', 'main');
    yard.gitIn(origin, 'add', '-A');
    yard.gitIn(origin, 'commit', '-q', '-m', 'start');
    const bare = yard.path(repository);
    yard.gitIn(origin, 'clone', '-q', '--bare', '.', bare);
    if (repository.endsWith('.bare')) yard.write('shop/.git', 'gitdir: ./.bare\n');
    // The one that is called first is not the one whose file counts.
    const [early, main] = ['early', 'main'].map((name) => yard.path(folder, name)) as [string, string];
    yard.gitIn(bare, 'worktree', 'add', '-q', '-b', 'early', early);
    yard.gitIn(bare, 'worktree', 'add', '-q', main, 'main');

    const container = repository.startsWith('shop/') ? [yard.path('shop')] : [];
    for (const cwd of [early, main, bare, ...container])
      expect(await yard.askIn(cwd, 'doctor')).toMatchObject({ project: { name: 'shop', root: main } });

    expect(await yard.askIn(early, 'up')).toMatchObject({ branch: 'early', worktree: early });
    const { worktree } = await yard.askIn(early, 'create', 'feature');
    expect(await yard.askIn(worktree, 'up')).toMatchObject({ branch: 'feature', worktree });
    expect(await yard.askIn(bare, 'up')).toMatchObject({ branch: 'main', worktree: main });
    const { services } = await yard.askIn(main, 'status');
    expect(services.map((each: any) => [each.branch, each.project_root, each.worktree])).toEqual([
      ['early', main, early],
      ['feature', main, worktree],
      ['main', main, main],
    ]);
    expect((await yard.askIn(early, 'where', 'web')).url).toMatch(/^http:\/\/web\.early\.shop\.localhost:/);
    expect(await yard.askIn(early, 'brief')).toMatchObject({ project: 'shop', branch: 'early' });
    expect((await yard.briefOver(early)).services).toMatchObject([{ branch: 'early', status: 'running' }]);
    expect((await yard.briefOver(bare)).services).toHaveLength(3);

    // Whatever its branches are called later, it stays the same project.
    yard.gitIn(main, 'switch', '-q', '-c', 'other');
    expect(await yard.askIn(early, 'doctor')).toMatchObject({ project: { name: 'shop', root: main } });

    for (const branch of ['early', 'feature']) await yard.askIn(main, 'remove', branch, '--yes');
    expect([early, worktree].filter((path) => existsSync(path))).toEqual([]);
    const refused = await yard.run(['remove', 'other'], { cwd: main });
    expect(refused.stderr).toContain('it is the project itself');
    await yard.askIn(main, 'down');
    expect(yard.living()).toEqual([]);
  });
});
