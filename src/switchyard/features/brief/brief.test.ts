import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../../test/helpers/cleanup.ts';
import { endProcess } from '../../../../test/helpers/yard-home.ts';
import { yardRepository, type YardRepository } from '../../../../test/helpers/yard-repository.ts';
import { bootId, SERVICE_COOKIE, startDetached } from '../../../process/index.ts';
import { hostName, serviceKey, slug, urlOf } from '../../records/names.ts';
import { openContext } from '../../records/project/context.ts';
import { logFileOf } from '../../records/state/home.ts';
import { ensureProject } from '../../records/state/project-record.ts';
import { timestamp } from '../../records/state/records.ts';
import { newCookie } from '../../runtime/processes/cookie.ts';
import { createWorktree } from '../worktrees/create.ts';
import { brief, type Brief } from './brief.ts';

const SERVICES = ['web', 'api', 'worker', 'search', 'mailer', 'billing', 'admin', 'docs', 'queue', 'db'];

function configWith(services: readonly string[], more = ''): string {
  const tables = services.map((name) => `[services.${name}]\ncommand = "node ${name}.js"\n`);
  return `[project]\nname = "shop"\n${more}\n${tables.join('\n')}\n[profiles.small]\nservices = ["${services[0]!}"]\n`;
}

const open = (shop: YardRepository, cwd = shop.root) => openContext({ cwd, env: shop.env });

/** Records a living process as a service, with its log. The process does nothing, and ends with the test. */
async function start(shop: YardRepository, branch: string, service: string, log = ''): Promise<void> {
  const { home, config, registry } = open(shop);
  const log_file = logFileOf(home, config, branch, `${service}.log`);
  mkdirSync(dirname(log_file), { recursive: true });
  const cookie = newCookie(home);
  const { pid, startTime } = await startDetached({
    name: service,
    command: process.execPath,
    args: ['-e', 'setTimeout(() => {}, 300_000)'],
    cwd: shop.root,
    env: { [SERVICE_COOKIE]: cookie },
    logFile: log_file,
  });
  atTestEnd(() => {
    endProcess(pid);
    return Promise.resolve();
  });
  writeFileSync(log_file, log);
  const hostname = hostName(service, branch, config.name, config.proxy.tld);
  await registry.change((state) => {
    const { services } = ensureProject(state, config);
    services[serviceKey(branch, service)] = {
      ...{ project: config.name, project_slug: config.slug, project_root: config.root, service },
      ...{ branch, branch_slug: slug(branch), worktree: config.root, command: 'node', desired_port: null },
      ...{ port: 20_000 + Object.keys(services).length, backend_host: '127.0.0.1', hostname },
      ...{ url: urlOf(hostname, config.proxy.port), log_file, started_at: timestamp(), cookie },
      ...{ pid, pgid: pid, process_started_at: startTime, boot_id: bootId() ?? null },
    };
  });
}

/** The size as printed by the command line; the order of the keys does not change it. */
function printed(told: Brief): number {
  return Buffer.byteLength(`${JSON.stringify(told, null, 2)}\n`);
}

describe('brief', () => {
  test('of a new project shows its configuration, and creates nothing', async () => {
    const shop = yardRepository({ config: configWith(['web', 'api'], '[env]\nlink = [".env"]\n') });
    expect(await brief(open(shop))).toEqual({
      project: 'shop',
      project_root: shop.root,
      branch: null,
      configured_services: ['api', 'web'],
      configured_profiles: ['small'],
      proxy: 'not-running',
      services: [],
      checkouts: [],
      changed_files: [],
      env_warnings: ['missing link source .env'],
      recent_errors: [],
    });
    expect(existsSync(shop.home)).toBe(false);
  });

  test('shows what runs, what changed and what went wrong, for all branches from the project itself', async () => {
    const shop = yardRepository({ config: configWith(['web', 'api']) });
    const { worktree } = await createWorktree(open(shop), { branch: 'feature/x' });
    await start(shop, 'feature/x', 'web', 'ready\nError: no such table\n');
    await start(shop, 'main', 'api', 'ready\n');
    shop.write('new.txt', '');
    writeFileSync(join(worktree, 'other.txt'), '');

    const all = await brief(open(shop));
    expect(all).toMatchObject({
      branch: null,
      services: [
        {
          service: 'web',
          branch: 'feature/x',
          status: 'running',
          url: 'http://web.feature-x.shop.localhost:7331',
        },
        { service: 'api', branch: 'main', status: 'running' },
      ],
      changed_files: ['?? new.txt'],
      recent_errors: [{ service: 'web', line: 'Error: no such table' }],
    });
    expect(Object.keys(all.services[0]!).sort()).toEqual([
      'branch',
      'log_file',
      'port',
      'service',
      'state',
      'status',
      'url',
    ]);

    const one = await brief(open(shop, worktree));
    expect(one).toMatchObject({ branch: 'feature/x', changed_files: ['?? other.txt'] });
    expect(one.services.map(({ service }) => service)).toEqual(['web']);
    expect(await brief(open(shop), { branch: 'feature-x' })).toEqual(one);

    const other = await brief(open(shop), { branch: 'main' });
    expect(other).toMatchObject({ branch: 'main', changed_files: ['?? new.txt'], recent_errors: [] });
  });

  test('still shows what runs when the worktree was deleted', async () => {
    const shop = yardRepository({ config: configWith(['web', 'api']) });
    const { worktree } = await createWorktree(open(shop), { branch: 'gone' });
    const { worktree: here } = await createWorktree(open(shop), { branch: 'here' });
    await start(shop, 'gone', 'web');
    rmSync(worktree, { recursive: true });
    for (const cwd of [shop.root, here]) {
      const told = await brief(open(shop, cwd), { branch: 'gone' });
      expect(told).toMatchObject({ branch: 'gone', changed_files: [], services: [{ status: 'running' }] });
    }
  });

  test('shows no changed files without git', async () => {
    const shop = yardRepository();
    shop.write('new.txt', '');
    const env = { ...shop.env, PATH: shop.folder };
    expect((await brief(openContext({ cwd: shop.root, env }))).changed_files).toEqual([]);
  });

  test('does not read a log outside the log directory', async () => {
    const shop = yardRepository({ config: configWith(['web']) });
    await start(shop, 'main', 'web');
    shop.write('secret.txt', 'Error: secret\n');
    await open(shop).registry.change((state) => {
      state.projects[shop.root]!.services['main::web']!.log_file = join(shop.root, 'secret.txt');
    });
    expect((await brief(open(shop))).recent_errors).toEqual([]);
  });

  test('stays below 4 KB for ten running services, with any number of errors and changes', async () => {
    const shop = yardRepository({ config: configWith(SERVICES, '[env]\nlink = [".env", ".env.local"]\n') });
    const trouble = `${'TypeError: cannot read properties of undefined, reading '.repeat(20)}\n`;
    const log = Array.from({ length: 100 }, (_, index) => `${index} ${trouble}`).join('');
    for (const service of SERVICES) await start(shop, 'feature/checkout-page', service, log);
    for (let index = 0; index < 200; index++) shop.write(`src/some/where/file-${index}.ts`, '');
    shop.git('add', '-A');

    const told = await brief(open(shop));
    expect(printed(told)).toBeLessThan(4096);
    expect(told.services).toHaveLength(10);
    expect(told.services.every(({ status }) => status === 'running')).toBe(true);
    expect(told.env_warnings).toHaveLength(2);
    expect(told.recent_errors.length).toBeGreaterThan(0);
    expect(told.recent_errors.every(({ line }) => line.length <= 200)).toBe(true);
    // The newest error of each service comes before the second newest of any.
    expect(told.recent_errors[0]!.line).toMatch(/^99 /);
    expect(told.changed_files.length).toBeGreaterThan(1);
    expect(told.changed_files.at(-1)).toBe(`… and ${201 - told.changed_files.length} more`);
  });
});
