import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { yardRepository, type YardRepository } from '../../../../test/helpers/yard-repository.ts';
import { newCookie } from '../../runtime/processes/cookie.ts';
import { observeServices } from '../../runtime/processes/observe.ts';
import { homeOf, makeHome, type Home } from './home.ts';
import { timestamp, type State } from './records.ts';
import { openRegistry, type Registry } from './registry.ts';

interface Yard extends YardRepository {
  readonly place: Home;
  readonly registry: Registry;
}

function yard(): Yard {
  const repository = yardRepository();
  const place = homeOf(repository.env);
  makeHome(place);
  return { ...repository, place, registry: openRegistry(place) };
}

/** Starts a process in its own session with the environment that `up` gives to a service. */
async function running(
  { root, place }: Yard,
  branch: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const env = {
    PATH: process.env.PATH,
    SWITCHYARD_COOKIE: newCookie(place),
    SWITCHYARD_HOME: place.root,
    SWITCHYARD_PROJECT: 'Shop',
    SWITCHYARD_PROJECT_ROOT: root,
    SWITCHYARD_BRANCH: branch,
    SWITCHYARD_SERVICE: 'web',
    SWITCHYARD_WORKTREE: root,
    SWITCHYARD_URL: 'http://web.feature-x.shop.localhost:7331',
    SWITCHYARD_PORT: '20017',
    PORT: '20017',
    HOST: '127.0.0.1',
    CANONICAL_PORT: '3000',
    ...more,
  };
  const script = 'process.stdout.write("up"); setTimeout(() => {}, 60_000)';
  const child = spawn(process.execPath, ['-e', script], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

const onLinux = process.platform === 'linux';

test.runIf(onLinux)('running services are recovered from a broken state', async () => {
  const shop = yard();
  const child = await running(shop, 'feature/x', { SWITCHYARD_HOST_HEADER: 'rewrite' });
  writeFileSync(shop.place.stateFile, '{"version": 1, "projects": {"/shop": {"nam');
  await shop.registry.change(() => undefined);

  const project = shop.registry.read().projects[shop.root]!;
  expect(project).toMatchObject({ name: 'Shop', slug: 'shop', config: join(shop.root, 'switchyard.toml') });
  const record = project.services['feature-x::web']!;
  expect(record).toMatchObject({
    branch: 'feature/x',
    branch_slug: 'feature-x',
    desired_port: 3000,
    port: 20_017,
    backend_host: '127.0.0.1',
    host_header: 'rewrite',
    hostname: 'web.feature-x.shop.localhost',
    worktree: shop.root,
    pid: child.pid,
    pgid: child.pid,
  });
  expect(record.log_file).toMatch(/\/logs\/shop-[0-9a-f]{8}\/feature-x\/web\.log$/);
  expect(observeServices([record])).toMatchObject([{ status: 'running', pids: [child.pid] }]);
});

test.runIf(onLinux)('also from a deleted one', async () => {
  const shop = yard();
  const { pid } = await running(shop, 'feature/x');
  await shop.registry.repair();
  expect(shop.registry.read().projects).toEqual({});
  // Leased ports prove that there was a state.
  writeFileSync(join(shop.place.ports, '20017'), '{}');
  await shop.registry.repair();
  expect(shop.registry.read().projects[shop.root]?.services['feature-x::web']?.pid).toBe(pid);
  expect(shop.registry.warnings.join()).toContain('Recovered: web of feature/x');
});

test.runIf(onLinux)('processes of another home, or with too little information, are left alone', async () => {
  const shop = yard();
  await running(yard(), 'other-home');
  await running(shop, 'no-port', { PORT: 'x', SWITCHYARD_PORT: 'x' });
  await running(shop, 'no-project', { SWITCHYARD_PROJECT_ROOT: '' });
  writeFileSync(shop.place.stateFile, 'broken');
  await shop.registry.change(() => undefined);
  expect(shop.registry.read().projects).toEqual({});
});

test.runIf(onLinux)('a single broken record is replaced by the running service; others stay', async () => {
  const shop = yard();
  const one = await running(shop, 'one');
  await running(shop, 'two');
  writeFileSync(shop.place.stateFile, 'broken');
  await shop.registry.change(() => undefined);
  const state = structuredClone(shop.registry.read()) as State;
  const before = state.projects[shop.root]!.services;
  const { cookie } = before['two::web']!;
  before['one::web']!.pid = 'not a number' as never;
  before['two::web']!.started_at = timestamp(new Date(0));
  writeFileSync(shop.place.stateFile, JSON.stringify(state));

  await shop.registry.change(() => undefined);
  const { services } = shop.registry.read().projects[shop.root]!;
  expect(services['one::web']!.pid).toBe(one.pid);
  expect(services['two::web']).toMatchObject({ cookie, started_at: '1970-01-01T00:00:00+00:00' });
  expect(shop.registry.warnings.join('\n')).toContain('Recovered: web of one');
});

test.runIf(onLinux)('if a service runs twice, the later one counts', async () => {
  const shop = yard();
  await running(shop, 'main');
  const later = await running(shop, 'main');
  writeFileSync(shop.place.stateFile, 'broken');
  await shop.registry.change(() => undefined);
  expect(shop.registry.read().projects[shop.root]!.services['main::web']!.pid).toBe(later.pid);
});

test('worktrees are recovered from git, those in the home as ours', async () => {
  const shop = yard();
  const ours = join(shop.place.worktrees, 'shop-12345678', 'feature-x');
  mkdirSync(join(shop.place.worktrees, 'shop-12345678'));
  shop.git('worktree', 'add', '-q', '-b', 'feature/x', ours);
  shop.git('worktree', 'add', '-q', '-b', 'theirs', join(shop.folder, 'theirs'));
  writeFileSync(shop.place.stateFile, 'broken');
  await shop.registry.change(() => undefined);
  const { worktrees } = shop.registry.read().projects[shop.root]!;
  expect(worktrees['feature-x']).toMatchObject({ branch: 'feature/x', path: ours });
  expect(worktrees['theirs']).toMatchObject({ path: join(shop.folder, 'theirs'), adopted: true });
  expect(Object.keys(worktrees)).toHaveLength(2);
});

test.runIf(onLinux)('a project whose directory is gone does not prevent the recovery of others', async () => {
  const shop = yard();
  await running(shop, 'main', { SWITCHYARD_PROJECT_ROOT: join(shop.folder, 'gone') });
  await running(shop, 'main');
  writeFileSync(shop.place.stateFile, 'broken');
  await shop.registry.change(() => undefined);
  expect(Object.keys(shop.registry.read().projects).sort()).toEqual([join(shop.folder, 'gone'), shop.root]);
});
