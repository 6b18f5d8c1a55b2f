import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { withFileLock } from '../../../shared/file-lock.ts';
import { readConfig } from '../../records/config/read.ts';
import { initProject } from './init.ts';

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'yard-init-')));
  root = join(base, 'My Shop');
  mkdirSync(root);
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
const put = (name: string, text = ''): void => writeFileSync(join(root, name), text);

describe('in a git repository', () => {
  beforeEach(() => {
    git('init', '-q', '-b', 'main');
  });

  it('rewrites the Host for an old webpack-dev-server', async () => {
    const devDependencies = { 'webpack-dev-server': '^3.11.3' };
    put('package.json', JSON.stringify({ scripts: { start: 'webpack serve' }, devDependencies }));
    const { config } = await initProject({ cwd: root });
    expect(readConfig(config)).toMatchObject({
      services: [
        { command: 'npm run start -- --port {port} --host {host} --public {url}', hostHeader: 'rewrite' },
      ],
      warnings: [],
    });
  });

  it('adds one line to the exclude file, however many do so at once', async () => {
    const exclude = join(root, '.git/info/exclude');
    let done: Promise<unknown> | undefined;
    writeFileSync(exclude, '*.log');
    await withFileLock(exclude, async () => {
      const both = [initProject({ cwd: root, force: true }), initProject({ cwd: root, force: true })];
      // By now both have read the file; a change by the holder of the lock is not lost either.
      await until(() => existsSync(join(root, 'switchyard.toml')));
      writeFileSync(exclude, '*.tmp\n', { flag: 'a' });
      done = Promise.all(both);
    });
    await done;
    expect(readFileSync(exclude, 'utf8')).toBe('*.log*.tmp\n.switchyard/\n');
  });

  it('writes a file at the top that is read without a warning', async () => {
    put('package.json', JSON.stringify({ scripts: { dev: 'vite' } }));
    put('.env', 'A=1');
    mkdirSync(join(root, 'src'));
    const done = await initProject({ cwd: join(root, 'src') });
    expect(done).toMatchObject({
      ok: true,
      action: 'init',
      dry_run: false,
      written: true,
      created_config: true,
      overwrote_config: false,
      created_local_state: true,
      would_fail: false,
      failure_reason: null,
      root,
      config: join(root, 'switchyard.toml'),
      config_exists: false,
      would_write_config: true,
      local_state: join(root, '.switchyard'),
      would_create_local_state: true,
      would_update_git_exclude: true,
      detected_service: {
        name: 'web',
        command: 'npm run dev -- --port {port} --strictPort --host {host}',
        port: 5173,
      },
    });
    expect(readFileSync(done.config, 'utf8')).toBe(done.config_text);
    expect(done.config_text).toContain('# A new worktree has no node_modules: run "npm install" in it once.');
    expect(readConfig(done.config)).toMatchObject({
      root,
      name: 'my-shop',
      env: { link: ['.env'], copy: [] },
      proxy: { host: '127.0.0.1', port: 7331, tld: 'localhost' },
      ports: { start: 20000, end: 29999 },
      services: [{ name: 'web', command: done.detected_service.command, port: 5173 }],
      warnings: [],
    });
  });

  it('leaves only the file itself visible to git', async () => {
    await initProject({ cwd: root });
    expect(git('status', '--short', '--untracked-files=all')).toBe('?? switchyard.toml\n');
    expect(readFileSync(join(root, '.switchyard/.gitignore'), 'utf8')).toBe('*\n!.gitignore\n');
  });

  it('adds to the excluded files once, and keeps existing ones', async () => {
    const exclude = join(root, '.git/info/exclude');
    mkdirSync(join(root, '.git/info'), { recursive: true });
    writeFileSync(exclude, 'mine');
    await initProject({ cwd: root });
    const again = await initProject({ cwd: root, force: true });
    expect(readFileSync(exclude, 'utf8')).toBe('mine\n.switchyard/\n');
    expect(again).toMatchObject({
      created_config: false,
      overwrote_config: true,
      created_local_state: false,
      would_create_local_state: false,
      would_update_git_exclude: false,
    });
  });

  it('writes to the worktree and excludes in the repository', async () => {
    put('a.txt');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    git('worktree', 'add', '-q', '-b', 'other', join(base, 'other'));
    const done = await initProject({ cwd: join(base, 'other') });
    expect(done.root).toBe(join(base, 'other'));
    expect(readFileSync(join(root, '.git/info/exclude'), 'utf8')).toContain('.switchyard/\n');
  });
});

it('without a repository, the directory itself is the project', async () => {
  const done = await initProject({ cwd: root });
  expect(done).toMatchObject({ root, would_update_git_exclude: false });
  expect(existsSync(done.config)).toBe(true);
});

it('without git on the PATH, the directory itself is the project', async () => {
  git('init', '-q');
  mkdirSync(join(root, 'inside'));
  const done = await initProject({ cwd: join(root, 'inside'), env: { PATH: join(base, 'nothing') } });
  expect(done.root).toBe(join(root, 'inside'));
});

describe('an existing file', () => {
  beforeEach(() => {
    put('switchyard.toml', 'mine');
  });

  it('is not overwritten, and the error says how to', async () => {
    await expect(initProject({ cwd: root })).rejects.toMatchObject({
      code: 'YARD_EXISTS',
      message: expect.stringContaining('already exists; pass --force to overwrite') as string,
    });
    expect(readdirSync(root)).toEqual(['switchyard.toml']);
    expect(readFileSync(join(root, 'switchyard.toml'), 'utf8')).toBe('mine');
  });

  it('is replaced in one step with force, behind a link too, and keeps its permissions', async () => {
    const [target, before] = ['shared.toml', 'before.toml'].map((name) => join(root, name));
    const config = join(root, 'switchyard.toml');
    renameSync(config, target!);
    symlinkSync(target!, config);
    linkSync(target!, before!);
    chmodSync(target!, 0o640);
    const old = readFileSync(config, 'utf8');
    const done = await initProject({ cwd: root, force: true });
    // Writing in place would have changed the file behind the second name.
    expect(readFileSync(before!, 'utf8')).toBe(old);
    expect(readFileSync(target!, 'utf8')).toBe(done.config_text);
    expect(lstatSync(config).isSymbolicLink()).toBe(true);
    expect(statSync(target!).mode & 0o777).toBe(0o640);
  });

  it('is overwritten with force', async () => {
    const done = await initProject({ cwd: root, force: true });
    expect(done).toMatchObject({
      written: true,
      created_config: false,
      overwrote_config: true,
      config_exists: true,
    });
    expect(readConfig(done.config).services).toHaveLength(1);
  });

  it('is reported by a dry run', async () => {
    expect(await initProject({ cwd: root, dryRun: true })).toMatchObject({
      ok: true,
      written: false,
      would_fail: true,
      failure_reason: expect.stringContaining('already exists; pass --force') as string,
      would_write_config: false,
      would_create_local_state: false,
    });
    expect(await initProject({ cwd: root, dryRun: true, force: true })).toMatchObject({
      would_fail: false,
      would_write_config: true,
      overwrote_config: false,
    });
  });
});

it('a dry run writes nothing', async () => {
  git('init', '-q');
  mkdirSync(join(root, '.git/info'), { recursive: true });
  writeFileSync(join(root, '.git/info/exclude'), 'mine\n');
  const done = await initProject({ cwd: root, dryRun: true });
  expect(done).toMatchObject({
    dry_run: true,
    written: false,
    would_fail: false,
    would_update_git_exclude: true,
  });
  expect(done.config_text).toContain('[services.web]');
  expect(readdirSync(root)).toEqual(['.git']);
  expect(readFileSync(join(root, '.git/info/exclude'), 'utf8')).toBe('mine\n');
});

it('a file in place of its directory is named', async () => {
  put('.switchyard', 'a file');
  await expect(initProject({ cwd: root })).rejects.toMatchObject({ code: 'YARD_INIT' });
  expect(existsSync(join(root, 'switchyard.toml'))).toBe(false);
});

it.each([
  ['a dev script', { 'package.json': '{"scripts":{"dev":"node x.js"}}' }],
  ['Django', { 'manage.py': 'import django' }],
  ['Go', { 'go.mod': 'module x', 'main.go': 'package main' }],
  ['nothing at all', {}],
])('the text for %s explains itself and reads back', async (_, files) => {
  for (const [name, text] of Object.entries(files)) put(name, text);
  const done = await initProject({ cwd: root });
  const config = readConfig(done.config);
  expect(config.warnings).toEqual([]);
  expect(config.services[0]).toMatchObject({ command: done.detected_service.command });
  expect(done.config_text).toContain(`# ${done.detected_service.reason}`);
  // Suggestions in comments must be valid, too.
  const uncommented = done.config_text
    .split('\n')
    .filter((line) => !/^(?:health|ready_timeout|depends_on|env)/.test(line))
    .map((line) => line.replace(/^# {3}(\[|(?:command|port|services) = )/, '$1'));
  writeFileSync(done.config, uncommented.join('\n'));
  expect(readConfig(done.config)).toMatchObject({
    services: [{ name: 'web' }, { name: 'api' }],
    profiles: [{ name: 'backend', services: ['api'] }],
    warnings: [],
  });
});
