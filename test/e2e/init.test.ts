/** `switchboard init`: from servers scattered over hosts to one configuration, without a question or with them. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject, nodeServer, ROOT, type Project } from '../helpers/temp-project.ts';

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function init(project: Project, ...args: string[]): Promise<Ran> {
  const env = {
    PATH: process.env.PATH,
    HOME: project.path('home'),
    SWITCHBOARD_STATE_DIR: project.path('state'),
    NO_COLOR: '1',
  };
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'dist/index.js'), 'init', ...args], {
      cwd: project.path('work'),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const CURSOR = { mcpServers: { echo: nodeServer('echo') } };
const YARD = '[services.web]\ncommand = "node web.js"\n';

test('finds the servers of hosts and the yard, writes a configuration, tells the hosts, and shows what it saves', async () => {
  const project = createProject({ 'home/.cursor/mcp.json': CURSOR, 'work/switchyard.toml': YARD });
  const { code, stdout, stderr } = await init(project, '--yes');
  expect(code, stderr).toBe(0);
  const config = JSON.parse(project.read('work/switchboard.config.json'));
  expect(config.mcpServers).toEqual({ echo: CURSOR.mcpServers.echo, yard: { builtin: 'switchyard' } });
  const cursor = JSON.parse(project.read('home/.cursor/mcp.json'));
  expect(cursor.mcpServers.echo).toEqual(CURSOR.mcpServers.echo);
  expect(cursor.mcpServers.switchboard.args).not.toContain('--config');
  for (const text of ['echo_suite', 'yard_suite', 'TOKENS', 'Added "switchboard" to Cursor'])
    expect(stdout).toContain(text);

  const again = await init(project, '--yes', '--json', '--no-start');
  expect(again.code, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ import: null, yard: false, install: null, dryRun: null });
  expect(JSON.parse(project.read('work/switchboard.config.json'))).toEqual(config);
});

test('leaves hosts alone where that is wanted, and says how to begin where there is nothing', async () => {
  const project = createProject({ 'home/.cursor/mcp.json': { mcpServers: {} }, 'work/.keep': '' });
  const { code, stdout } = await init(project, '--yes', '--no-install');
  expect(code).toBe(0);
  expect(stdout).toContain('switchboard add memory');
  expect(existsSync(project.path('work/switchboard.config.json'))).toBe(false);
  expect(JSON.parse(project.read('home/.cursor/mcp.json'))).toEqual({ mcpServers: {} });
});

test('without somebody to ask it does nothing, and says what to do', async () => {
  const project = createProject({ 'home/.cursor/mcp.json': CURSOR, 'work/.keep': '' });
  const { code, stderr } = await init(project);
  expect(code).toBe(2);
  expect(stderr).toContain('--yes');
  expect(existsSync(project.path('work/switchboard.config.json'))).toBe(false);
});
