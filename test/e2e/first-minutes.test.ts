/** What a person meets in the first minutes. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createHostHome, FILES } from '../helpers/host-home.ts';
import { startClient, type Json } from '../helpers/raw-client.ts';
import { programEnv, runProgram } from '../helpers/run-program.ts';
import { createProject, nodeServer, ROOT, serverPath } from '../helpers/temp-project.ts';

const CONFIG = 'switchboard.config.json';

test('a gateway that has just answered for the first time is found by add', async () => {
  const project = createProject({ [CONFIG]: { mcpServers: { one: nodeServer('echo') } } });
  const client = startClient({
    command: process.execPath,
    args: [join(ROOT, 'dist/index.js')],
    cwd: project.dir,
    env: programEnv(project),
  });
  await client.initialize();
  await client.listTools();
  const added = await runProgram(project, ['add', 'two', '--', process.execPath, serverPath('echo')]);
  expect(added.code).toBe(0);
  await client.waitFor(({ method }) => method === 'notifications/tools/list_changed');
  expect((await client.listTools()).map(({ name }) => name)).toContain('two_suite');
  await client.close();
});

test('install makes no file for a host that is not there, unless that is wanted', async () => {
  const at = createHostHome({ '.config/switchboard/switchboard.config.json': { mcpServers: {} } });
  const env = { PATH: '' };
  const before = at.files();
  const refused = await at.run(['install', 'cursor', 'vscode'], { env });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('VS Code not found');
  expect(refused.stderr).toContain('--force');
  expect(at.files()).toEqual(before);
  const { json } = await at.run(['install', 'vscode', '--json'], { env });
  expect(json.error.code).toBe('HOST_NOT_FOUND');
  const insisted = await at.run(['install', 'vscode', '--force'], { env });
  expect(insisted.code).toBe(0);
  expect(at.read(FILES.vscode)).toContain('switchboard');
  // Its program is enough, although it has never been started.
  expect((await at.run(['install', 'cursor'])).code).toBe(0);
});

test('dry-run and list have servers that do not work, in their place and with the reason', async () => {
  const project = createProject({
    [CONFIG]: {
      mcpServers: {
        unset: { ...nodeServer('echo'), env: { T: '${NOT_SET_ANYWHERE}' } },
        gone: { command: 'no-such-command-here' },
        echo: nodeServer('echo'),
      },
    },
  });
  const { code, stdout } = await runProgram(project, ['--dry-run']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^unset → unset_suite\n {2}failed: .*NOT_SET_ANYWHERE is not set/m);
  expect(stdout).toContain('Set NOT_SET_ANYWHERE in the environment');
  // A host gets their suites, too.
  const [table = ''] = stdout.slice(stdout.indexOf('TOKENS')).split('\n\n');
  const firstWords = table.split('\n').map((row) => row.split(' ')[0]);
  expect(firstWords).toEqual(['TOKENS', 'unset', 'gone', 'echo', 'instructions', 'total']);
  const { json } = await runProgram(project, ['--dry-run', '--json']);
  expect(json.servers.map(({ name, ok }: Json) => [name, ok])).toEqual([
    ['unset', false],
    ['gone', false],
    ['echo', true],
  ]);
  expect(json.servers[0].error).toMatchObject({ code: 'SERVER_UNUSABLE' });
  expect(json.servers[0].tokens.listed).toBeGreaterThan(0);
  const listed = (await runProgram(project, ['list'])).stdout.split('\n').slice(1, 4);
  expect(listed.map((row) => row.split(' ')[0])).toEqual(['unset', 'gone', 'echo']);
});

test('import that cannot ask changes nothing, says how to go on, and does not claim success', async () => {
  const at = createHostHome({ [FILES.cursor]: { mcpServers: { echo: nodeServer('echo') } } });
  const before = at.files();
  const { code, stdout, stderr } = await at.run(['import']);
  expect(code).toBe(2);
  expect(stdout).toContain('echo');
  expect(stderr).toContain('Add --yes');
  expect(at.files()).toEqual(before);
  expect((await at.run(['import', '--json'])).code).toBe(2);
  expect((await at.run(['import', '--dry-run'])).code).toBe(0);
  expect((await at.run(['import', '--yes'])).code).toBe(0);
  // Nothing is left to ask.
  expect((await at.run(['import'])).code).toBe(0);
});

test('uninstall says which hosts are without their servers, and how they get them back', async () => {
  const at = createHostHome({
    [FILES.cursor]: { mcpServers: { echo: nodeServer('echo') } },
    [FILES.windsurf]: { mcpServers: { pages: nodeServer('pages') } },
  });
  await at.run(['init', '--yes', '--no-start']);
  const next = 'Restore them with: switchboard eject cursor windsurf\n';
  const { code, stdout } = await at.run(['uninstall', '--all']);
  expect(code).toBe(0);
  expect(stdout).toContain(`Cursor, Windsurf: the servers that moved behind Switchboard are still missing`);
  expect(stdout).toContain(next);
  // It is repeated in case it was missed.
  const again = await at.run(['uninstall', '--all']);
  expect(again.stdout).toBe(
    `No host has an entry for Switchboard.\n${stdout.slice(stdout.indexOf('Cursor, W'))}`,
  );
  expect((await at.run(['uninstall', 'cursor', '--json'])).json.eject).toEqual(['cursor']);
  await at.run(['eject']);
  expect((await at.run(['uninstall', '--all'])).stdout).toBe('No host has an entry for Switchboard.\n');
});

test('the help of a program with one configuration names no flag for two', async () => {
  const project = createProject({ 'config.json': { mcpServers: {} } });
  for (const command of ['add', 'remove', 'enable', 'disable', 'list', 'doctor']) {
    const { stdout } = await runProgram(project, ['help', command], { program: 'mcp-proxy-server' });
    expect(stdout, command).not.toMatch(/\s--(?:user|project)\b|your own|user file|\$LAYERS/);
  }
  expect((await runProgram(project, ['help', 'add'])).stdout).toMatch(/Add --project or --user to choose\. /);
});

test('a change to the own file from within a project says that it applies everywhere', async () => {
  const at = createHostHome({
    '.config/switchboard/switchboard.config.json': { mcpServers: { echo: nodeServer('echo') } },
    'work/.git/HEAD': '',
  });
  const everywhere = 'This is your user file, so it applies to all your projects.';
  const file = at.home.path('.config/switchboard/switchboard.config.json');
  const off = await at.run(['disable', 'echo']);
  expect(off.stdout).toContain(file);
  expect(off.stdout).toContain(`${everywhere} --project disables it only in this one.\n`);
  expect((await at.run(['enable', 'echo'])).stdout).toContain(everywhere);
  expect((await at.run(['remove', 'echo', '--dry-run'])).stdout).toContain(everywhere);
  const removed = await at.run(['remove', 'echo']);
  expect(removed.stdout).toContain(file);
  expect(removed.stdout).toContain(everywhere);
  await at.run(['add', 'echo', '--user', '--', process.execPath, serverPath('echo')]);
  expect((await at.run(['remove', 'echo', '--user'])).stdout).not.toContain(everywhere);
});

test('a server of a shared file of the project is disabled in a project file, where it counts', async () => {
  const at = createHostHome({
    'work/.git/HEAD': '',
    'work/.mcp.json': { mcpServers: { echo: nodeServer('echo') } },
  });
  expect((await at.run(['disable', 'echo'])).stdout).toContain(at.home.path('work/switchboard.config.json'));
  expect((await at.run(['list', '--json'])).json).toMatchObject({ servers: [], disabled: ['echo'] });
  expect((await at.run(['enable', 'echo'])).code).toBe(0);
  expect((await at.run(['list', '--json'])).json.servers).toMatchObject([{ name: 'echo' }]);
});

test('add warns of a command or a script that is not there, and adds it all the same', async () => {
  const project = createProject();
  const missing = await runProgram(project, ['add', 'a', 'no-such-command-here']);
  expect(missing.code).toBe(0);
  expect(missing.stderr).toContain('command not found: "no-such-command-here"');
  const script = await runProgram(project, ['add', 'b', process.execPath, 'not-built.js']);
  expect(script.code).toBe(0);
  expect(script.stderr).toContain('not-built.js does not exist');
  const { json } = await runProgram(project, ['list', '--json']);
  expect(json.servers.map(({ name }: Json) => name)).toEqual(['a', 'b']);
  const good = await runProgram(project, ['add', 'c', process.execPath, serverPath('echo')]);
  expect(good).toMatchObject({ code: 0, stderr: '' });
});

test('a variable that is not set is reported once per server', async () => {
  const entry = { ...nodeServer('echo'), env: { A: '${NOT_SET_ANYWHERE}', B: '${NOT_SET_ANYWHERE}' } };
  const project = createProject({ [CONFIG]: { mcpServers: { bad: entry } } });
  const times = (text: string): number => text.split('NOT_SET_ANYWHERE is not set').length - 1;
  for (const command of ['list', 'doctor', '--dry-run']) {
    const { stdout, stderr } = await runProgram(project, [command]);
    expect([command, times(stdout), times(stderr)]).toEqual([command, 1, 0]);
    expect(stdout).toContain('mcpServers.bad.env.A, mcpServers.bad.env.B');
  }
  const client = startClient({ cwd: project.dir, env: programEnv(project) });
  await client.initialize();
  await client.close();
  expect(
    times(
      client.stderr
        .split('\n')
        .filter((line) => line.includes(' warn '))
        .join('\n'),
    ),
  ).toBe(1);
});

test('doctor names the own configuration, whether it is there or not', async () => {
  const project = createProject({ [CONFIG]: { mcpServers: { echo: nodeServer('echo') } } });
  const own = project.path('.user/switchboard', CONFIG);
  expect((await runProgram(project, ['doctor'])).stdout).toContain(`- no user file (would be ${own})`);
  const { json } = await runProgram(project, ['doctor', '--json']);
  expect(json.config.own).toEqual({ path: own, exists: false });
  project.write(`.user/switchboard/${CONFIG}`, {});
  expect((await runProgram(project, ['doctor'])).stdout).toContain(`configuration ${own} (user file)`);
  project.write(CONFIG, { extends: false, mcpServers: { echo: nodeServer('echo') } });
  expect((await runProgram(project, ['doctor'])).stdout).toContain(`your user file ${own} is not used`);
});

test('add writes nothing through a link of the repository', async () => {
  for (const link of ['.switchboard', '.switchboard/switchboard.config.schema.json']) {
    const project = createProject({ 'repo/.git/HEAD': '', 'outside/.keep': '' });
    mkdirSync(dirname(project.path('repo', link)), { recursive: true });
    symlinkSync(
      project.path(link === '.switchboard' ? 'outside' : 'outside/made'),
      project.path('repo', link),
    );
    const added = await runProgram(
      project,
      ['add', 'echo', '--project', '--', process.execPath, serverPath('echo')],
      { cwd: project.path('repo') },
    );
    expect(added.code, added.stderr).toBe(0);
    expect(readdirSync(project.path('outside'))).toEqual(['.keep']);
  }
});

test.each([
  ['HOME', ''],
  ['SWITCHBOARD_STATE_DIR', 'state'],
  ['XDG_STATE_HOME', 'state'],
  ['XDG_CONFIG_HOME', 'config'],
])('with %s=%o no file of a repository passes for the own one', async (name, value) => {
  const server = nodeServer('echo');
  const own = { allowProjects: ['/**'], mcpServers: { evil: server } };
  const project = createProject({
    [CONFIG]: { mcpServers: { theirs: server } },
    [`.config/switchboard/${CONFIG}`]: own,
    [`config/switchboard/${CONFIG}`]: own,
  });
  const files = [project.path(CONFIG)].map((path) => [
    path,
    createHash('sha256').update(project.read(CONFIG)).digest('hex'),
  ]);
  for (const state of ['state', 'state/switchboard', '.local/state/switchboard'])
    project.write(`${state}/allowed-files.json`, { version: 1, files: Object.fromEntries(files) });
  const home = createProject();
  const env = {
    HOME: home.dir,
    SWITCHBOARD_STATE_DIR: undefined,
    XDG_STATE_HOME: undefined,
    XDG_CONFIG_HOME: undefined,
    SWITCHBOARD_ALLOW_PROJECT: undefined,
    [name]: value,
  };
  const { json, stderr } = await runProgram(project, ['list', '--json'], { env });
  expect(json.servers.map((each: Json) => each.name)).not.toContain('evil');
  expect(json.unusable.map((each: Json) => each.name)).toContain('theirs');
  expect(stderr).toContain(`${name} is ignored, because ${JSON.stringify(value)} is not an absolute path.`);
});
