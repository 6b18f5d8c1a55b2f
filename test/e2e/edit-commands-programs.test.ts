/** The editing commands of mcp-proxy-server, and those that mcpmux lacks. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  cleanEnv,
  ECHO,
  leave,
  NODE,
  runEditCommand,
  startEditedGateway,
  waitForToolsChanged,
  toolNames,
} from '../helpers/edit-commands.ts';
import { startClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT, serverPath } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CONFIG = 'switchboard.config.json';

describe('mcp-proxy-server', () => {
  const program = 'mcp-proxy-server';

  test('has the same commands, on its config.json', async () => {
    const project = createProject({ 'config.json': { mcpServers: { a: nodeServer('echo') } } });
    const client = await startEditedGateway(project, { program });
    const seen = client.messages.length;
    const added = await runEditCommand(project, ['add', 'v2', '--', NODE, serverPath('echo-v2')], {
      program,
    });
    expect(added.code).toBe(0);
    expect(added.stdout).toContain(`Added "v2" to ${project.path('config.json')}`);
    expect(added.stdout).toContain(`Reload signal sent to mcp-proxy-server, pid ${client.pid}.`);
    await waitForToolsChanged(client, seen);
    await until(async () => (await toolNames(client)).includes('reverse'));
    const reloaded = await runEditCommand(project, ['reload'], { program });
    expect(reloaded.stdout).toContain(`  mcp-proxy-server, pid ${client.pid}\n`);
    expect((await runEditCommand(project, ['remove', 'v2'], { program })).code).toBe(0);
    await until(async () => !(await toolNames(client)).includes('reverse'));
    expect(existsSync(project.path(CONFIG))).toBe(false);
    await leave(client);
  });

  test('also on the one its variable names; without any it says so', async () => {
    const project = createProject({ 'my/own.json': {} });
    const env = { MCP_PROXY_CONFIG_PATH: 'my/own.json' };
    expect((await runEditCommand(project, ['add', 'a', 'b'], { program, env })).code).toBe(0);
    expect(JSON.parse(project.read('my/own.json'))).toEqual({ mcpServers: { a: { command: 'b' } } });
    const without = await runEditCommand(project, ['remove', 'a'], { program });
    expect(without.code).toBe(78);
    expect(without.stderr).toContain(`Configuration file not found: ${project.path('config.json')}.`);
    const help = await runEditCommand(project, ['help', 'add'], { program });
    expect(help.stdout).not.toMatch(/^ +--user/m);
    expect(help.stdout).toContain('Usage: mcp-proxy-server add <name> [flags] -- <command> [args…]');
  });
});

describe('mcpmux', () => {
  const program = 'mcpmux';

  test('--help explains its tools, and has no commands that edit', async () => {
    const { code, stdout } = await runEditCommand(createProject(), ['--help'], { program });
    expect(code).toBe(0);
    for (const word of [
      'add_server',
      'remove_server',
      'reload_server',
      'list_servers',
      'list',
      'call',
      '--config',
    ])
      expect(stdout).toContain(word);
    expect(stdout).not.toMatch(/^ {2}(?:add|remove|reload) /m);
    expect(stdout).toContain('(default: none)');
    const version = await runEditCommand(createProject(), ['--version'], { program });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  test.each(['add', 'remove', 'reload', 'serve'])(
    '%s: servers are added through MCP, it says',
    async (command) => {
      const { code, stderr } = await runEditCommand(createProject(), [command, 'x', 'y'], { program });
      expect(code).toBe(2);
      expect(stderr).toContain(`mcpmux: Unknown command "${command}".`);
      expect(stderr).toContain('Agents manage servers with the MCP tools add_server');
      expect((await runEditCommand(createProject(), ['help', command], { program })).code).toBe(2);
    },
  );

  test('the commands that look need --config, and work with it', async () => {
    const project = createProject({ 'mux.json': { mcpServers: { e: nodeServer('echo') } }, [CONFIG]: {} });
    for (const args of [['list'], ['tools'], ['call', 'e', 'pid'], ['dry-run'], ['--dry-run'], ['doctor']]) {
      const refused = await runEditCommand(project, args, { program });
      expect(refused.code, args.join(' ')).toBe(2);
      expect(refused.stderr).toContain('needs --config');
      expect(refused.stderr).toContain('Agents manage servers with the MCP tools');
    }
    const look = (...args: string[]) =>
      runEditCommand(project, ['--config', 'mux.json', ...args], { program });
    expect((await look('list')).stdout).toMatch(/^e +flat \(e__\*\) +– /m);
    expect((await look('tools', 'e')).stdout).toContain('as e__echo');
    expect((await look('call', 'e', 'echo', 'text=hi')).stdout).toBe('hi\n');
    expect((await look('doctor', '--start')).code).toBe(0);
    const dry = await look('--dry-run', '--json');
    expect(dry.code).toBe(0);
    expect(dry.json.management.tools).toEqual([
      'add_server',
      'remove_server',
      'reload_server',
      'list_servers',
    ]);
    const [{ tokens }] = dry.json.servers;
    const parts = [tokens.listed, dry.json.management.tokens.listed, dry.json.instructions.tokens].map(
      Number,
    );
    expect(parts.reduce((sum, part) => sum + part)).toBe(dry.json.tokens.listed);
    expect((await look('--dry-run')).stdout).toMatch(/^management +≈ \d+$/m);
    const help = await runEditCommand(project, ['help', 'list'], { program });
    expect(help.stdout).toContain('mcpmux --config FILE list');
  });

  test('with --config it is a gateway of that file like any other; without, of none', async () => {
    const project = createProject({ 'mux.json': {} });
    const client = await startEditedGateway(project, {
      program,
      args: ['--config', 'mux.json', '--log-level', 'info'],
    });
    const added = await runEditCommand(project, ['--config', 'mux.json', 'add', 'e', ...ECHO]);
    expect(added.stdout).toContain(`Reload signal sent to mcpmux, pid ${client.pid}.`);
    await client.waitForStderr(/configuration reloaded/);
    const { result } = await client.call('list_servers');
    expect(result.structuredContent.servers).toMatchObject([{ name: 'e', command: NODE }]);
    await client.call('reload_server', { name: 'e' });
    expect(await toolNames(client)).toContain('e__echo');
    await leave(client);
    const alone = startClient({
      command: NODE,
      args: [join(ROOT, 'dist/mcpmux.js')],
      cwd: project.dir,
      env: cleanEnv(project),
    });
    await alone.initialize();
    await alone.call('add_server', { name: 'x', ...nodeServer('echo') });
    await until(async () => (await toolNames(alone)).includes('x__echo'));
    expect((await runEditCommand(project, ['list', '--json'])).json).toMatchObject({
      gateways: [],
      unconfigured: [],
    });
    await leave(alone);
  });
});
