/** A state directory that cannot be written, or that others can: a sentence says so, and nothing is done. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, mkdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cleanEnv, runEditCommand } from '../helpers/edit-commands.ts';
import { programEnv } from '../helpers/run-program.ts';
import { createProject, nodeServer, ROOT, type Project } from '../helpers/temp-project.ts';

const CONFIG = 'switchboard.config.json';
const posix = process.platform !== 'win32';

/** Runs a command with a disk of its own at a path. */
function onDisk(disk: 'full' | 'read-only', project: Project, at: string, command: readonly string[]) {
  mkdirSync(at, { recursive: true, mode: 0o700 });
  const fill = disk === 'full' ? 'dd if=/dev/zero of="$0/fill" 2>/dev/null' : 'mount -o remount,ro "$0"';
  const script = `mount -t tmpfs -o size=64k,mode=700 tmpfs "$0" && { ${fill}; exec "$@"; }`;
  return spawnSync('unshare', ['-rm', 'sh', '-c', script, at, ...command], {
    cwd: project.dir,
    env: { ...programEnv(project), ...cleanEnv(project), SWITCHYARD_HOME: project.path('.yard') },
    encoding: 'utf8',
  });
}

/** Not every system lets users mount a file system of their own. */
const canMount = posix && spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

describe.runIf(canMount).each(['full', 'read-only'] as const)('a state disk that is %s', (disk) => {
  // Node reports ENOENT for directories that it cannot make there.
  const cause = disk === 'full' ? /ENOSPC/ : /EROFS|ENOENT/;

  test.each([
    ['index', ['token', 'create', 'laptop'], '.state'],
    ['index', ['--http', '0'], '.state'],
    ['index', ['add', 'one', '--', 'node'], '.state'],
    ['index', ['allow', '--yes'], '.state'],
    ['switchyard', ['up'], '.yard'],
  ])('%s %j says so', (program, args, folder) => {
    const toml = '[services.web]\ncommand = "sleep 60"\n';
    const config = { mcpServers: { echo: { command: 'node' } } };
    const project = createProject({ [CONFIG]: config, 'switchyard.toml': toml });
    const before = project.read(CONFIG);
    const { status, stderr } = onDisk(disk, project, project.path(folder), [
      ...[process.execPath, join(ROOT, 'dist', `${program}.js`), ...args],
    ]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(cause)]);
    expect(stderr).not.toMatch(/\bbug\b/);
    expect(project.read(CONFIG)).toBe(before);
  });
});

test.runIf(canMount)('a full disk delays no call that is to be recorded, and is told of', () => {
  const config = { audit: true, mcpServers: { echo: nodeServer('echo') } };
  const project = createProject({ [CONFIG]: config });
  const { status, stdout, stderr } = onDisk('full', project, project.path('.state'), [
    ...[process.execPath, join(ROOT, 'dist/index.js'), 'call', 'echo', 'add', 'a=1', 'b=2'],
    '--log-level=warn',
  ]);
  expect([status, stdout.trim()], stderr).toEqual([0, '3']);
  expect(stderr).toContain('calls are missing from the audit log');
});

test('a file in the place of the state directory is no bug', async () => {
  const project = createProject({ [CONFIG]: { mcpServers: { a: { command: 'a' } } }, '.state': 'a file' });
  const env = { SWITCHBOARD_ALLOW_PROJECT: '0' };
  for (const args of [
    ['token', 'create', 'laptop'],
    ['allow', '--yes'],
    ['--http', '0'],
  ]) {
    const { code, stderr } = await runEditCommand(project, args, { env });
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('.state')]);
    expect([1, 78]).toContain(code);
    expect(stderr).not.toMatch(/\bbug\b/);
  }
});

describe.runIf(posix)('a secret in the state directory is refused', () => {
  const refused = async (open: (project: Project) => void, why: string): Promise<void> => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: { command: 'a' } } } });
    expect((await runEditCommand(project, ['token', 'create', 'laptop'])).code).toBe(0);
    open(project);
    for (const args of [
      ['token', 'list'],
      ['--http', '0'],
    ]) {
      const { code, stderr } = await runEditCommand(project, args);
      expect([code, stderr]).toEqual([78, expect.stringContaining(why)]);
    }
  };

  test('if it has a second name', () =>
    refused((at) => linkSync(at.path('.state/http-tokens.json'), at.path('copy')), 'hard link'));
  test('if others can write to its directory', () =>
    refused((at) => chmodSync(at.path('.state'), 0o777), 'other users can write to its directory'));

  test('nor do approvals count that others could have written', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: { command: 'a' } } } });
    const env = { SWITCHBOARD_ALLOW_PROJECT: '0' };
    expect((await runEditCommand(project, ['allow', '--yes'], { env })).code).toBe(0);
    chmodSync(project.path('.state/allowed-files.json'), 0o666);
    const { stderr, stdout } = await runEditCommand(project, ['list'], { env });
    expect(stdout + stderr).toContain('not allowed yet');
    expect(stderr).toContain('allowed-files.json cannot be used');
  });
});

test('what a killed program has left is cleared', async () => {
  const project = createProject({ [CONFIG]: '{}', '.state/servers/x': '' });
  const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
  const left = (name: string, at: Date): string => {
    const path = project.write(name, 'half a fi');
    utimesSync(path, at, at);
    return path;
  };
  const gone = [
    left(`${CONFIG}.0123456789ab.tmp`, old),
    left('.state/http-tokens.json.0123456789ab.tmp', old),
  ];
  const kept = [left(`${CONFIG}.ba9876543210.tmp`, new Date()), left('other.json.0123456789ab.tmp', old)];
  expect((await runEditCommand(project, ['add', 'one', '--', 'node'])).code).toBe(0);
  expect((await runEditCommand(project, ['token', 'create', 'laptop'])).code).toBe(0);
  expect(gone.filter((path) => existsSync(path))).toEqual([]);
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);
});

describe.runIf(posix)('a file that a secret is added to', () => {
  const modeOf = (project: Project): string => (statSync(project.path(CONFIG)).mode & 0o777).toString(8);
  const KEY = 'sk-live-0123456789abcdefghij';

  test.each([
    ['a header', ['--url', 'https://example.com/mcp', '--header', `Authorization: Bearer ${KEY}`]],
    ['a variable', ['--env', `API_KEY=${KEY}`, '--', 'node']],
  ])('is for its owner only: %s', async (_what, args) => {
    const fresh = createProject();
    expect((await runEditCommand(fresh, ['add', 'api', '--project', ...args])).code).toBe(0);
    expect(modeOf(fresh)).toBe('600');
    const open = createProject({ [CONFIG]: '{}' });
    chmodSync(open.path(CONFIG), 0o644);
    expect((await runEditCommand(open, ['add', 'api', ...args])).code).toBe(0);
    expect(modeOf(open)).toBe('600');
  });

  test('stays as it is where none is', async () => {
    const project = createProject({ [CONFIG]: '{}' });
    chmodSync(project.path(CONFIG), 0o644);
    const args = ['--url', 'https://example.com/mcp', '--header', 'Authorization: Bearer ${API_KEY}'];
    expect((await runEditCommand(project, ['add', 'api', ...args])).code).toBe(0);
    expect(modeOf(project)).toBe('644');
  });
});

test('invisible characters of strangers are shown, and JSON keeps them', async () => {
  const name = 'git\u200bhub\u202e\u{e0041}\u001b[31m';
  const project = createProject({
    [CONFIG]: { mcpServers: { ok: { command: name }, [name]: { command: 'x' } } },
  });
  const shown = await runEditCommand(project, ['list']);
  expect(shown.stdout + shown.stderr).toContain('git\\u{200b}hub\\u{202e}\\u{e0041}');
  // eslint-disable-next-line no-control-regex
  expect(shown.stdout + shown.stderr).not.toMatch(/[\u200b\u202e\u{e0041}\u001b]/u);
  const { stdout, json } = await runEditCommand(project, ['list', '--json']);
  expect(stdout).not.toContain('\\u{200b}');
  expect(JSON.stringify(json)).toContain('git\u200bhub');
});
