/** How an agent gets to know a project: `switchyard mcp config`, `install`, `projects`, `smoke`. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { createYard, type TestYard, type YardRun, type YardRunOptions } from '../helpers/yard.ts';

const TOML = '[project]\nname = "shop"\n[services.web]\ncommand = "node web.js"\nport = 3000\n';

interface Agent {
  readonly yard: TestYard;
  readonly file: string;
  readonly run: (args: readonly string[], options?: YardRunOptions) => Promise<YardRun>;
  readonly json: (...args: string[]) => Promise<any>;
  readonly write: (text: string) => void;
  readonly text: () => string;
}

function agent(before?: string): Agent {
  const yard = createYard({ toml: TOML, files: { 'packages/api/x.txt': '' } });
  const codex = join(yard.home, '../codex');
  const file = join(codex, 'config.toml');
  const env = { CODEX_HOME: codex };
  const write = (text: string): void => {
    mkdirSync(codex, { recursive: true });
    writeFileSync(file, text);
  };
  if (before !== undefined) write(before);
  const run: Agent['run'] = (args, options) =>
    yard.run(args, { ...options, env: { ...env, ...options?.env } });
  return {
    yard,
    file,
    run,
    write,
    text: () => readFileSync(file, 'utf8'),
    json: async (...args) => {
      const ran = await run([...args, '--json']);
      expect(ran.code, ran.stdout + ran.stderr).toBe(0);
      return ran.json;
    },
  };
}

const server = (text: string, name = 'switchyard'): any => (parse(text) as any).mcp_servers?.[name];

describe('mcp config', () => {
  test('registers the project, and prints an entry without a project path', async () => {
    const { yard, run, json, file } = agent();
    const { stdout, code } = await run(['mcp', 'config', '--name', 'shop']);
    expect(code).toBe(0);
    expect(stdout).toContain('[mcp_servers.shop]');
    expect(stdout).not.toContain(yard.dir);
    expect(stdout).not.toMatch(/cwd/);
    const entry = server(stdout, 'shop');
    expect(entry).toMatchObject({
      args: expect.arrayContaining(['mcp', '--project', 'shop']),
      startup_timeout_sec: 10,
      tool_timeout_sec: 60,
      default_tools_approval_mode: 'prompt',
      env: { SWITCHYARD_HOME: yard.home },
    });
    expect(existsSync(file)).toBe(false);
    expect(await json('mcp', 'projects')).toEqual({
      home: yard.home,
      state_path: join(yard.home, 'state.json'),
      projects: [{ name: 'shop', root: yard.dir, config: yard.path('switchyard.toml'), status: 'ok' }],
    });
  });

  test('from a worktree or a subdirectory, it is the same project', async () => {
    const { yard, run, json } = agent();
    await yard.ask('create', 'feature-x');
    const { worktrees } = await yard.ask('list');
    for (const [at, cwd] of [yard.path('packages/api'), worktrees[0].path].entries())
      expect((await run(['mcp', 'config', '--name', `p${at}`], { cwd })).code).toBe(0);
    const { projects } = await json('mcp', 'projects');
    expect(projects.map(({ root }: any) => root)).toEqual([yard.dir, yard.dir]);
  });

  test('a name of another project is kept, unless forced', async () => {
    const one = agent();
    const other = createYard({ toml: TOML });
    const env = { SWITCHYARD_HOME: one.yard.home };
    await one.json('mcp', 'config');
    const refused = await other.run(['mcp', 'config', '--json'], { env });
    expect(refused.code).toBe(1);
    expect(refused.json.error).toContain(`already points to ${one.yard.dir}`);
    expect((await other.run(['mcp', 'config', '--force'], { env })).code).toBe(0);
    expect((await one.json('mcp', 'projects')).projects[0].root).toBe(other.dir);
  });

  test('an invalid name and a directory without a project are reported', async () => {
    const { yard, run } = agent();
    expect((await run(['mcp', 'config', '--name', 'a b'])).stderr).toContain(
      'letters, numbers, underscores and dashes',
    );
    const elsewhere = await run(['mcp', 'config'], { cwd: join(yard.home, '..') });
    expect(elsewhere.stderr).toContain('Could not find switchyard.toml from');
    expect(elsewhere.stderr).toContain('switchyard init');
    expect((await run(['mcp', '--project', 'x', '--cwd', '.'])).stderr).toContain(
      'either --cwd or --project, not both',
    );
    expect((await run(['mcp', 'config', '--cwd', yard.path('packages')], { cwd: '/' })).code).toBe(0);
  });
});

describe('mcp install', () => {
  const BEFORE = [
    '# my settings',
    'model = "o9"   # the good one',
    '',
    '[mcp_servers.other]',
    'command = "other"',
    '',
    '[mcp_servers.switchyard.tools.switchyard_up]',
    'approval_mode = "approve"',
    '',
  ].join('\n');

  test('adds the entry, keeps every other byte, and does nothing the second time', async () => {
    const { json, text, yard } = agent(BEFORE);
    const first = await json('mcp', 'install');
    expect(first).toMatchObject({
      ok: true,
      dry_run: false,
      registered: true,
      action: 'added',
      server_project: 'switchyard',
    });
    const after = text();
    for (const line of BEFORE.split('\n')) expect(after).toContain(line);
    expect(server(after).tools).toEqual({ switchyard_up: { approval_mode: 'approve' } });
    expect(server(after, 'other')).toEqual({ command: 'other' });
    expect(after).not.toContain(yard.dir);
    expect((await json('mcp', 'install')).action).toBe('unchanged');
    expect(text()).toBe(after);
    const removed = await json('mcp', 'uninstall');
    expect(removed).toMatchObject({ ok: true, action: 'removed' });
  });

  test('updates its entry, and keeps added variables and approvals', async () => {
    const { json, text, yard, write } = agent();
    const stored = join(yard.home, '../stored');
    const before = [
      '[mcp_servers."switchyard"]',
      'command = "old"',
      'args = ["mcp"]',
      'enabled = true',
      '[mcp_servers.switchyard.env]',
      'EXTRA = "1"',
      `SWITCHYARD_HOME = ${JSON.stringify(stored)}`,
      '',
    ];
    write(before.join('\n'));
    expect((await json('mcp', 'install')).action).toBe('updated');
    expect(server(text())).toMatchObject({
      enabled: true,
      args: expect.arrayContaining(['--project', 'switchyard']),
      env: { EXTRA: '1', SWITCHYARD_HOME: stored },
    });
    // It is registered where the server will look: the stored home wins.
    const { projects } = await yard.ask('mcp', 'projects');
    expect(projects).toEqual([]);
    const there = await yard.run(['mcp', 'projects', '--json'], {
      env: { SWITCHYARD_HOME: stored },
    });
    expect(there.json.projects).toHaveLength(1);
  });

  test('invalid TOML is not touched, and nothing is registered', async () => {
    const broken = '[mcp_servers\ncommand = 1\n';
    const { run, text, json, file } = agent(broken);
    const { code, stderr } = await run(['mcp', 'install']);
    expect(code).toBe(1);
    expect(stderr).toContain(file);
    expect(text()).toBe(broken);
    expect((await json('mcp', 'projects')).projects).toEqual([]);
  });

  test('a dry run shows the update and writes nothing', async () => {
    const { run, json, yard, file } = agent();
    const dry = await json('mcp', 'install', '--dry-run');
    expect(dry).toMatchObject({
      dry_run: true,
      registered: false,
      would_register: 'switchyard',
      would_replace: false,
      would_update: file,
    });
    expect((await run(['mcp', 'install', '--dry-run'])).stdout).toContain('# dry run only');
    expect(existsSync(yard.home)).toBe(false);
    expect(existsSync(file)).toBe(false);
  });

  test('the permissions of the file stay, and a link is followed', async () => {
    const { json, file, write, yard } = agent('');
    const real = join(yard.home, '../real.toml');
    writeFileSync(real, '# mine\n');
    chmodSync(real, 0o640);
    write('');
    await import('node:fs').then(({ rmSync }) => rmSync(file));
    symlinkSync(real, file);
    await json('mcp', 'install');
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readFileSync(real, 'utf8')).toMatch(/^# mine\n/);
    expect(server(readFileSync(real, 'utf8'))).toBeDefined();
  });

  test('other clients get theirs', async () => {
    const { json, yard } = agent();
    const { config_path: path } = await json('mcp', 'install', '--client', 'cursor', '--name', 'shop');
    expect(path).toBe(join(yard.env.HOME!, '.cursor/mcp.json'));
    const { shop } = JSON.parse(readFileSync(path, 'utf8')).mcpServers;
    expect(shop.args.slice(-3)).toEqual(['mcp', '--project', 'shop']);
    expect(shop.startup_timeout_sec).toBeUndefined();
    expect((await json('mcp', 'uninstall', '--client', 'cursor', '--name', 'shop')).action).toBe('removed');
    expect(existsSync(path)).toBe(false);
  });

  test('also those with an entry format of their own', async () => {
    const { json } = agent();
    const flags = ['--client', 'opencode', '--name', 'shop'];
    const { config_path: path } = await json('mcp', 'install', ...flags);
    const { shop } = JSON.parse(readFileSync(path, 'utf8')).mcp;
    expect(shop).toMatchObject({ type: 'local', command: expect.any(Array) });
    expect(shop.command.slice(-3)).toEqual(['mcp', '--project', 'shop']);
    expect(Object.keys(shop.environment ?? {})).toEqual(['SWITCHYARD_HOME']);
    expect((await json('mcp', 'install', ...flags)).action).toBe('unchanged');
    expect((await json('mcp', 'uninstall', ...flags)).action).toBe('removed');
    expect(existsSync(path)).toBe(false);
  });
});

test('the help of each explains it, and hides flags for programs', async () => {
  const { run } = agent();
  const whole = (await run(['mcp', '--help'])).stdout;
  for (const word of [
    '[config|install|',
    'Commands:',
    '--project',
    'switchyard mcp install',
    'run inside a project',
  ])
    expect(whole).toContain(word);
  for (const part of ['config', 'install', 'projects', 'smoke']) {
    const { stdout } = await run(['mcp', part, '--help']);
    expect(stdout).toMatch(new RegExp(`^switchyard mcp ${part}: .+\n\nUsage: switchyard mcp ${part}`));
    expect(stdout.match(/usage:/gi)).toHaveLength(1);
    expect(stdout + whole).not.toContain('--cwd');
  }
  expect((await run(['mcp', 'install', '--help'])).stdout).toMatch(
    /show the change to the host's configuration without making it/,
  );
});

describe('mcp smoke', () => {
  test('passes from a project, a subdirectory and a worktree, and leaves no trace', async () => {
    const { yard, run, json } = agent();
    const smoke = await json('mcp', 'smoke');
    expect(smoke).toMatchObject({ ok: true, project: yard.dir, alias: 'switchyard-smoke' });
    // The entry runs Node, or a command on the PATH: never Python.
    expect(smoke).toHaveProperty('used_runtime');
    expect(smoke).not.toHaveProperty('used_python');
    expect(existsSync(yard.home)).toBe(false);
    expect((await run(['mcp', 'smoke', '.', '--nested', 'packages/api'])).stdout).toContain(
      'OK   MCP project smoke',
    );
    await yard.ask('create', 'feature-x');
    const [{ path }] = (await yard.ask('list')).worktrees;
    expect((await run(['mcp', 'smoke', '--json'], { cwd: path })).json).toMatchObject({
      ok: true,
      cwd: path,
    });
  });

  test('fails with a reason', async () => {
    const { run } = agent();
    const ran = await run(['mcp', 'smoke', 'nowhere', '--json']);
    expect(ran.code).toBe(1);
    expect(ran.json).toMatchObject({
      ok: false,
      error: expect.stringContaining('The cwd of the smoke test is not a directory'),
    });
  });
});
