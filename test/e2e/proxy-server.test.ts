/** The program mcp-proxy-server: the coordinator of several servers, as its specification describes it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processesWith, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf, type Json, type RawClient } from '../helpers/raw-client.ts';
import { runProgram, type Finished } from '../helpers/run-program.ts';
import { createProject, nodeServer, npmServer, ROOT, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { PROXY_EXAMPLE } from '../helpers/proxy-example.ts';

const PROGRAM = join(ROOT, 'dist/mcp-proxy-server.js');

type Env = Readonly<Record<string, string | undefined>>;

/** What a test sets is all that counts. */
function cleanEnv(project: Project, env: Env = {}): Env {
  return {
    SWITCHBOARD_LOG_LEVEL: undefined,
    MCP_PROXY_CONFIG_PATH: undefined,
    MCP_PROXY_LOG_LEVEL: undefined,
    MCP_PROXY_LOG_DIRECTORY_PATH: undefined,
    SWITCHBOARD_STATE_DIR: project.path('.state'),
    ...env,
  };
}

function start(project: Project, env: Env = {}, args: readonly string[] = []): RawClient {
  return startClient({
    command: process.execPath,
    args: [PROGRAM, ...args],
    cwd: project.dir,
    env: cleanEnv(project, env),
  });
}

/** Ends it as a host does; it must leave nothing behind. */
async function leave(client: RawClient): Promise<void> {
  expect((await client.close()).code).toBe(0);
  expect(processesWith(client.marker)).toEqual([]);
}

/** Runs it to its end. */
function run(project: Project, args: readonly string[], env: Env = {}): Promise<Finished> {
  return runProgram(project, args, { program: 'mcp-proxy-server', env: cleanEnv(project, env) });
}

test('the example of the specification: what is there is served, what is not is reported by name', async () => {
  // Nobody listens there, and nobody outside is asked.
  const example = PROXY_EXAMPLE.replace('http://example.com/mcp', 'http://127.0.0.1:9/mcp');
  const project = createProject({ 'somewhere/my.json': example, 'bin/.keep': '' });
  // Without npx, or this would ask the network.
  const env = { MCP_PROXY_CONFIG_PATH: 'somewhere/my.json', PATH: project.path('bin') };
  const client = start(project, env);
  const { result } = await client.initialize();
  expect(result.serverInfo).toMatchObject({ name: 'mcp-proxy-server' });
  const tools = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(['CustomToolName']);
  expect(tools[0].description).toContain('Description of the custom tool');
  expect(tools[0].description).toContain('ServerName1/toolA: Description of tool A');
  expect(tools[0].inputSchema.properties).toMatchObject({ server: {}, tool: {}, args: { type: 'object' } });
  await client.waitForStderr(/warn .*ServerName1.*\/path\/to\/server1\/build\/index\.js/);
  await client.waitForStderr(/warn .*ServerName2.*npx/);
  await client.waitForStderr(/warn .*ServerName3.*cannot be reached/);
  const called = await client.call('CustomToolName', { server: 'ServerName1', tool: 'toolA', args: {} });
  expect(called.result.isError).toBe(true);
  expect(textOf(called)).toContain('ServerName1');
  await leave(client);
});

/** Two real servers, with everything the specification lets say about them. */
function realProject(): Project {
  const project = createProject();
  project.write('config.json', {
    mcpServers: {
      Every: {
        ...npmServer('everything'),
        exposedTools: ['echo', 'get-*', { original: 'get-sum', exposed: 'add' }],
        hiddenTools: ['get-env'],
      },
      Notes: {
        ...npmServer('memory'),
        env: { MEMORY_FILE_PATH: project.path('memory.jsonl') },
        hiddenTools: ['delete_*', 'create_relations'],
      },
    },
    tools: {
      Notebook: {
        description: 'Adds up and takes notes.',
        subtools: {
          Every: { tools: [{ name: 'get-sum', description: 'Adds two numbers' }] },
          Notes: { tools: [{ name: 'create_relations' }, { name: 'read_graph' }] },
        },
      },
    },
  });
  return project;
}

describe('real servers', () => {
  test('have their tools in one list, under their own names, filtered and renamed; calls follow the list', async () => {
    const project = realProject();
    const client = start(project);
    await client.initialize();
    const tools = await client.listTools();
    const names: string[] = tools.map((tool) => tool.name);
    const of = (name: string): Json => tools.find((tool) => tool.name === name);
    expect(names[0]).toBe('Notebook');
    expect(names).toEqual(
      expect.arrayContaining(['echo', 'add', 'get-tiny-image', 'create_entities', 'read_graph']),
    );
    for (const name of [
      'get-sum',
      'get-env',
      'toggle-simulated-logging',
      'create_relations',
      'delete_entities',
    ]) {
      expect(names).not.toContain(name);
    }
    expect(of('echo').description).toBe('[Every] Echoes back the input string');
    expect(of('add')).toMatchObject({
      description: '[Every] Returns the sum of two numbers',
      inputSchema: { required: ['a', 'b'] },
    });
    expect(of('read_graph').description).toBe('[Notes] Read the entire knowledge graph');

    expect(textOf(await client.call('add', { a: 19, b: 23 }))).toBe('The sum of 19 and 23 is 42.');
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
    expect((await client.call('create_entities', { entities })).result.isError).not.toBe(true);
    for (const name of ['get-sum', 'get-env', 'delete_entities', 'create_relations']) {
      expect((await client.call(name, {})).error).toMatchObject({ code: -32602 });
    }
    await leave(client);
  });

  test('give their tools to a compound tool, hidden ones too, and only those it names', async () => {
    const project = realProject();
    const client = start(project);
    await client.initialize();
    const call = (server: string, tool: string, args: object = {}) =>
      client.call('Notebook', { server, tool, args });
    expect(textOf(await call('Every', 'get-sum', { a: 1, b: 2 }))).toBe('The sum of 1 and 2 is 3.');
    const relations = [{ from: 'Ada', to: 'numbers', relationType: 'likes' }];
    expect((await call('Notes', 'create_relations', { relations })).result.isError).not.toBe(true);
    expect(textOf(await call('Notes', 'read_graph'))).toContain('likes');
    const refused = await call('Notes', 'delete_entities', { entityNames: ['Ada'] });
    expect(refused.result.isError).toBe(true);
    expect(textOf(refused)).toContain('delete_entities');
    expect(textOf(await call('Nobody', 'read_graph'))).toContain('Nobody');
    await leave(client);
  });

  test('the commands are the same, under the name of this program', async () => {
    const project = realProject();
    const list = await run(project, ['list']);
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect(list.stdout).toMatch(/^Every +flat \(plain names\) +–/m);
    expect(list.stdout).toMatch(/^Notebook +Every\/get-sum, Notes\/create_relations, Notes\/read_graph /m);
    const tools = await run(project, ['tools', 'Every']);
    expect(tools).toMatchObject({ code: 0, stderr: '' });
    expect(tools.stdout).toMatch(/^ {2}get-sum \{a:number, b:number\} as add$/m);
    expect(await run(project, ['call', 'Every', 'add', 'a=2', 'b=2'])).toMatchObject({
      code: 0,
      stdout: 'The sum of 2 and 2 is 4.\n',
    });
    const dry = await run(project, ['--dry-run', '--json']);
    expect(JSON.parse(dry.stdout)).toMatchObject({ compounds: [{ name: 'Notebook', missing: [] }] });
    expect((await run(project, ['doctor', '--start'])).code).toBe(0);
    const wrong = await run(project, ['call', 'Every', 'ad']);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/^mcp-proxy-server: The server "Every" has no tool "ad"/);
  });
});

test('two servers with a tool of the same name: the first keeps it', async () => {
  const project = createProject({
    'config.json': {
      mcpServers: { One: nodeServer('echo', '--name=one'), Two: nodeServer('echo', '--name=two') },
    },
  });
  const client = start(project);
  await client.initialize();
  const names = (await client.listTools()).map((tool) => tool.name);
  expect(names).toEqual(expect.arrayContaining(['whoami', 'Two__whoami']));
  expect(names).not.toContain('One__whoami');
  await leave(client);
  // Alone it would have the plain name; the one hosts use is understood all the same.
  const called = await run(project, ['call', 'Two', 'Two__echo', 'text=two']);
  expect(called).toMatchObject({ code: 0, stdout: 'two\n' });
});

test('an entry of Claude Desktop: a command and its environment, started anywhere', async () => {
  const project = realProject();
  const client = startClient({
    command: PROGRAM,
    cwd: '/',
    env: cleanEnv(project, {
      MCP_PROXY_CONFIG_PATH: project.path('config.json'),
      KEEP_SERVER_OPEN: '1',
      PORT: '1',
    }),
  });
  await client.initialize();
  expect((await client.listTools()).map((tool) => tool.name)).toContain('add');
  expect(textOf(await client.call('add', { a: 2, b: 3 }))).toBe('The sum of 2 and 3 is 5.');
  // With stdio the host that started it is the only one there will be.
  await leave(client);
});

test('its servers start in the background, before anybody asks for their tools', async () => {
  const project = createProject({ 'config.json': { mcpServers: { echo: nodeServer('echo') } } });
  const client = start(project);
  await client.initialize();
  await client.waitForStderr(/info +running server=echo/);
  const listed = () => run(project, ['list', '--json']).then(({ stdout }) => JSON.parse(stdout));
  const { servers, gateways } = await until(async () => {
    const seen = await listed();
    return seen.servers[0].state?.kind === 'running' ? seen : undefined;
  });
  expect(processesWith(client.marker).map(({ pid }) => pid)).toContain(servers[0].state.pid);
  expect(gateways).toMatchObject([{ program: 'mcp-proxy-server', pid: client.pid }]);
  await leave(client);
  expect((await listed()).gateways).toEqual([]);
});

describe('configuration', () => {
  const ONE = { mcpServers: { one: nodeServer('echo') } };
  const names = async (project: Project, args: readonly string[], env: Env = {}) => {
    const { stdout } = await run(project, ['list', '--json', ...args], env);
    return JSON.parse(stdout).servers.map((server: Json) => server.name);
  };

  test('the flag comes before the variable, and that before config.json; nothing else is read', async () => {
    const project = createProject({
      'config.json': { mcpServers: { usual: nodeServer('echo') } },
      'one.json': ONE,
      'two.json': { mcpServers: { two: nodeServer('echo') } },
      'switchboard.config.json': { mcpServers: { other: nodeServer('echo') } },
      '.mcp.json': { mcpServers: { root: nodeServer('echo') } },
      'mcps/found/.mcp.json': { name: 'found', command: { cmd: 'node' } },
    });
    expect(await names(project, [])).toEqual(['usual']);
    expect(await names(project, [], { MCP_PROXY_CONFIG_PATH: '' })).toEqual(['usual']);
    expect(await names(project, [], { MCP_PROXY_CONFIG_PATH: 'one.json' })).toEqual(['one']);
    expect(await names(project, [], { MCP_PROXY_CONFIG_PATH: project.path('two.json') })).toEqual(['two']);
    const both = { MCP_PROXY_CONFIG_PATH: 'one.json' };
    expect(await names(project, ['--config', 'two.json'], both)).toEqual(['two']);
  });

  test('a file that is not there ends it with 78 and says where it was looked for', async () => {
    const project = createProject();
    for (const args of [[], ['list']]) {
      const usual = await run(project, args);
      expect(usual).toMatchObject({ code: 78, stdout: '' });
      expect(usual.stderr).toContain(
        `mcp-proxy-server: Configuration file not found: ${project.path('config.json')}.\n`,
      );
      expect(usual.stderr).toContain('MCP_PROXY_CONFIG_PATH');
      const named = await run(project, args, { MCP_PROXY_CONFIG_PATH: 'conf/mine.json' });
      expect(named).toMatchObject({ code: 78, stdout: '' });
      expect(named.stderr).toContain(project.path('conf/mine.json'));
      expect(named.stderr).toContain('MCP_PROXY_CONFIG_PATH names it.');
    }
    expect((await run(project, ['doctor'])).stdout).toContain(`✗ Configuration file not found`);
  });

  test('--help names the variables and the flags', async () => {
    const project = createProject();
    const { code, stdout } = await run(project, ['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: mcp-proxy-server [flags]');
    expect(stdout).toContain('(default: ./config.json)');
    for (const name of [
      'MCP_PROXY_CONFIG_PATH',
      'MCP_PROXY_LOG_LEVEL',
      'MCP_PROXY_LOG_DIRECTORY_PATH',
      'KEEP_SERVER_OPEN',
      'PORT',
    ]) {
      expect(stdout).toContain(name);
    }
    expect((await run(project, ['call', '--help'])).stdout).toContain('  mcp-proxy-server call files ');
    for (const flag of ['--http', '--sse']) expect(stdout).toContain(`${flag} [[HOST:]PORT]`);
  });

  test('config.example.json is right as it is', async () => {
    const project = createProject({ 'config.json': readFileSync(join(ROOT, 'config.example.json'), 'utf8') });
    const list = await run(project, ['list']);
    expect(list).toMatchObject({ code: 0, stderr: '' });
    // Where it lies, npx finds the servers in node_modules; so this needs no network.
    const env = { MCP_PROXY_CONFIG_PATH: join(ROOT, 'config.example.json') };
    const { code, stdout } = await run(project, ['doctor', '--start'], env);
    expect(stdout).not.toMatch(/[✗!] /);
    expect(code).toBe(0);
  });
});

describe('log', () => {
  const PROJECT = {
    'config.json': { mcpServers: { crash: nodeServer('crash', '--at-start', '--stderr-lines=2') } },
  };

  test('lines and what servers write to stderr also go to the file; the level counts for both', async () => {
    const project = createProject(PROJECT);
    const log = () => readFileSync(project.path('logs/deep/mcp-proxy-server.log'), 'utf8');
    const env = { MCP_PROXY_LOG_DIRECTORY_PATH: 'logs/deep' };
    const first = start(project, { ...env, MCP_PROXY_LOG_LEVEL: 'info' });
    await first.initialize();
    await first.waitForStderr(/^\S+Z \[crash\] crash line 2$/m);
    await leave(first);
    expect(log()).toMatch(/^\S+Z \[crash\] crash line 1$/m);
    expect(log()).toMatch(/^\S+Z mcp-proxy-server info +spawned server=crash/m);
    expect(log()).not.toContain(' debug ');
    const second = start(project, { ...env, MCP_PROXY_LOG_LEVEL: 'debug' });
    await second.initialize();
    await leave(second);
    expect(second.stderr).toMatch(/^\S+Z mcp-proxy-server debug /m);
    expect(log()).toMatch(/^\S+Z mcp-proxy-server debug stopping why=end$/m);
    const before = log();
    const third = start(project, { ...env, MCP_PROXY_LOG_LEVEL: 'debug', SWITCHBOARD_LOG_LEVEL: 'silent' });
    await third.initialize();
    await leave(third);
    expect(log()).toBe(before);
  });

  test('the directory may stand in the configuration, of switchboard too', async () => {
    const project = createProject({
      'config.json': { ...PROJECT['config.json'], logDirectory: 'logs' },
    });
    const client = startClient({
      args: ['--config', 'config.json'],
      cwd: project.dir,
      env: cleanEnv(project),
    });
    await client.initialize();
    await client.call('crash_suite', { action: 'introspect' });
    await leave(client);
    expect(project.read('logs/switchboard.log')).toMatch(/^\S+Z \[crash\] crash line 2$/m);
    expect(existsSync(project.path('logs/mcp-proxy-server.log'))).toBe(false);
  });

  test('without a directory no file is written', async () => {
    const project = createProject(PROJECT);
    const client = start(project);
    await client.initialize();
    await client.waitForStderr(/^\S+Z \[crash\] crash line 2$/m);
    await leave(client);
    expect(existsSync(project.path('mcp-proxy-server.log'))).toBe(false);
  });

  test('a directory that cannot be used, or a level that does not exist, ends it with 78 before it serves', async () => {
    const project = createProject({ ...PROJECT, file: 'in the way' });
    const directory = await run(project, [], { MCP_PROXY_LOG_DIRECTORY_PATH: 'file' });
    expect(directory).toMatchObject({ code: 78, stdout: '' });
    expect(directory.stderr).toContain(`mcp-proxy-server: Cannot write a log in ${project.path('file')}`);
    const level = await run(project, [], { MCP_PROXY_LOG_LEVEL: 'warn' });
    expect(level).toMatchObject({ code: 78, stdout: '' });
    expect(level.stderr).toMatch(/^mcp-proxy-server: MCP_PROXY_LOG_LEVEL must be "debug" or "info"\.\n/);
    expect(
      (await run(project, [], { MCP_PROXY_LOG_LEVEL: 'warn', SWITCHBOARD_LOG_LEVEL: 'warn' })).code,
    ).toBe(0);
  });

  test('a gateway that is killed at once still leaves its last lines, and nobody', async () => {
    const project = createProject({ 'config.json': { mcpServers: { stubborn: nodeServer('stubborn') } } });
    const client = start(project, { MCP_PROXY_LOG_DIRECTORY_PATH: 'logs', MCP_PROXY_LOG_LEVEL: 'debug' });
    await client.initialize();
    await client.waitForStderr(/info +running server=stubborn/);
    client.signal('SIGTERM');
    await client.waitForStderr(/debug stopping why=SIGTERM/);
    await client.kill('SIGTERM');
    await waitUntilGone(client.marker);
    expect(project.read('logs/mcp-proxy-server.log')).toContain('debug stopping why=SIGTERM');
    expect(existsSync(project.path('.state/run', `${client.pid}.json`))).toBe(false);
  });
});
