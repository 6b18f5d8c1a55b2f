/** Commands, on Windows and elsewhere: what they change, what they print, and the gateways that they reach. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { Exit } from '../../src/shared/exit-codes.ts';
import { startGateway } from '../helpers/gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { runProgram } from '../helpers/run-program.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { hasNetworkPaths, isWindows, networkPath } from './machine.ts';

const PATIENT = { deadline: 45_000 };

/** A person's folders, as Windows names them, in the folder of the test. */
function profile(home: Project): Record<string, string | undefined> {
  return {
    HOME: home.dir,
    USERPROFILE: home.dir,
    APPDATA: home.path('AppData', 'Roaming'),
    LOCALAPPDATA: home.path('AppData', 'Local'),
    SWITCHBOARD_STATE_DIR: undefined,
    XDG_CONFIG_HOME: undefined,
  };
}

/** Has cmd.exe open a file as the stdin of a program, which it does not let others replace. Returns how to end that. */
async function heldOpen(project: Project, file: string): Promise<() => Promise<void>> {
  const wait = `process.stdout.write('open'); setInterval(() => require('node:fs').existsSync('leave') && process.exit(), 50);`;
  project.write('wait.cjs', wait);
  const holder = spawn('cmd.exe', ['/d', '/s', '/c', `""${process.execPath}" wait.cjs < ${file}"`], {
    cwd: project.dir,
    stdio: ['ignore', 'pipe', 'ignore'],
    windowsVerbatimArguments: true,
    windowsHide: true,
  });
  const left = once(holder, 'exit');
  const leave = async (): Promise<void> => {
    project.write('leave', '');
    await left;
  };
  onTestFinished(leave);
  await once(holder.stdout, 'data');
  return leave;
}

test('add, disable, enable, reload and remove reach a running gateway through its control channel', async () => {
  const { client, project, call } = await startGateway({ echo: nodeServer('echo') }, PATIENT);
  await until(() => existsSync(project.path('.state/run')) && readdirSync(project.path('.state/run'))[0], {
    ...PATIENT,
    what: 'the gateway to have its control channel',
  });
  const command = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await runProgram(project, args);
    expect(stderr).toBe('');
    expect(code).toBe(0);
  };
  const untilListed = (...names: readonly string[]): Promise<unknown> =>
    until(async () => (await client.listTools()).map(({ name }) => String(name)).join() === names.join(), {
      ...PATIENT,
      what: `the tools to be ${names.join()}`,
    });
  const { command: node, args } = nodeServer('echo');
  await command('add', 'two', '--project', '--', node, ...args);
  await untilListed('echo_suite', 'two_suite');
  expect(textOf(await call('two', 'echo', { text: 'C:\\a "b"' }))).toContain('C:\\a "b"');
  await command('disable', 'two');
  await untilListed('echo_suite');
  await command('enable', 'two');
  await untilListed('echo_suite', 'two_suite');
  const text = project.read('switchboard.config.json');
  project.write('switchboard.config.json', text.replace('"two"', '"three"'));
  await command('reload');
  await untilListed('echo_suite', 'three_suite');
  await command('remove', 'three');
  await untilListed('echo_suite');
  expect((await client.close()).code).toBe(0);
});

test.runIf(isWindows)('the files of a person are in the folders that Windows names', async () => {
  const home = createProject();
  const env = profile(home);
  const { command, args } = nodeServer('echo');
  const { code, stderr } = await runProgram(home, ['add', 'one', '--user', '--', command, ...args], {
    env,
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(home.read('AppData/Roaming/switchboard/switchboard.config.json')).toContain('"one"');
});

test.runIf(isWindows)(
  'install and uninstall change the files of hosts there, and keep their line ends and mark',
  async () => {
    const home = createProject();
    const env = profile(home);
    const before = '\ufeff{\r\n\t// mine ä\r\n\t"servers": {\r\n\t\t"a": { "command": "x" }\r\n\t}\r\n}\r\n';
    home.write('AppData/Roaming/Code/User/mcp.json', before);
    home.write('AppData/Roaming/Claude/claude_desktop_config.json', '{}\r\n');
    const run = (...args: string[]) => runProgram(home, [...args, '--json'], { env });
    expect((await run('install', 'vscode', 'claude-desktop')).code).toBe(0);
    const after = home.read('AppData/Roaming/Code/User/mcp.json');
    expect(after.startsWith('\ufeff{\r\n\t// mine ä\r\n')).toBe(true);
    expect(after.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    const { servers } = JSON.parse(after.slice(1).replace(/\/\/.*/, '')) as {
      servers: Record<string, { command: string; args: string[] }>;
    };
    expect(servers['switchboard']).toMatchObject({ command: process.execPath });
    expect(servers['switchboard']?.args[0]).toMatch(/^[A-Z]:\\.*\\dist\\index\.js$/i);
    const desktop = JSON.parse(home.read('AppData/Roaming/Claude/claude_desktop_config.json')) as object;
    expect(desktop).toHaveProperty('mcpServers.switchboard.command', process.execPath);
    expect(existsSync(home.path('AppData/Local/switchboard/backups'))).toBe(true);
    expect((await run('uninstall', 'vscode', 'claude-desktop')).code).toBe(0);
    expect(home.read('AppData/Roaming/Code/User/mcp.json')).toBe(before);
  },
);

test.runIf(isWindows)(
  'a file that another program has open without sharing it stays as it is, until that has left',
  async () => {
    const before = '{ "mcpServers": {} }\r\n';
    const project = createProject({ 'switchboard.config.json': before });
    const add = () => runProgram(project, ['add', 'one', '--project', '--', 'node', 'one.js']);
    const leave = await heldOpen(project, 'switchboard.config.json');
    const { code, stderr } = await add();
    expect(stderr).toContain('another program has it open');
    expect(code).toBe(Exit.config);
    expect(project.read('switchboard.config.json')).toBe(before);
    expect(readdirSync(project.dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    await leave();
    expect((await add()).code).toBe(0);
    expect(project.read('switchboard.config.json')).toContain('"one"');
  },
);

test('a configuration that is a module is loaded from any path', async () => {
  const project = createProject();
  const text = `export default { mcpServers: { found: { command: 'node', args: [] } } };`;
  const file = project.write('50% of #1 & ä/switchboard.config.js', text);
  for (const path of hasNetworkPaths ? [file, networkPath(file)] : [file]) {
    const { stdout, json } = await runProgram(project, ['list', '--json', '--config', path]);
    expect(json, stdout).toMatchObject({ servers: [{ name: 'found' }] });
  }
});

test('output is UTF-8, whatever the code page of the console is', async () => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { größe: { ...nodeServer('echo'), description: '日本 €' } } },
  });
  const { stdout } = await runProgram(project, ['list', '--json']);
  expect(stdout).toContain('größe');
  expect((await runProgram(project, ['list'])).stdout).toContain('größe');
});

test.runIf(isWindows)('switchyard says in one sentence that it needs WSL', async () => {
  const project = createProject();
  for (const args of [['up'], ['mcp'], ['status']]) {
    const { code, stdout, stderr } = await runProgram(project, args, { program: 'switchyard' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: On Windows, Switchyard needs WSL\.\nhint: Run it there: https:\S+\n$/);
  }
});
