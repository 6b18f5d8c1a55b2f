/** The command line of the built program, over real servers. Every run must leave no process behind. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import { marker, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf, type Json } from '../helpers/raw-client.ts';
import { CRASH, echoProject, mixedProject, PROGRAM, runCli, stateOf } from '../helpers/run-cli.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

/** Runs a program in a terminal; other systems than Linux have one with other flags. */
const SCRIPT = '/usr/bin/script';

const COMMANDS = ['list', 'tools', 'call', 'dry-run', 'doctor', 'add', 'remove', 'reload'];

describe('help and mistakes', () => {
  test('--help teaches, help <command> too, --version says the version', async () => {
    const project = createProject();
    const help = await runCli(project, ['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const word of [...COMMANDS, 'Examples:', 'Environment:', 'Exit codes:']) {
      expect(help.stdout).toContain(word);
    }
    for (const words of ['~/.local/state/switchboard', 'With --http: 0 if stopped by a signal; 1 if'])
      expect(help.stdout).toContain(words);
    expect((await runCli(project, ['-h'])).stdout).toBe(help.stdout);
    expect((await runCli(project, ['--help', 'list'])).stdout).toContain('Usage: switchboard list');
    expect((await runCli(project, ['help'])).stdout).toBe(help.stdout);
    expect((await runCli(project, ['help', 'help'])).stdout).toBe(help.stdout);
    const version = await runCli(project, ['--version']);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  test.each(COMMANDS)('%s --help has examples', async (command) => {
    const project = createProject();
    const help = await runCli(project, [command, '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain(`Usage: switchboard ${command}`);
    expect(help.stdout).toContain('Examples:');
    expect((await runCli(project, ['help', command])).stdout).toBe(help.stdout);
  });

  test.each([
    [['doctro'], 'Unknown command "doctro".\n  Did you mean "doctor"?'],
    [['list', '--jsno'], 'Unknown flag "--jsno".\n  Did you mean "--json"?'],
    [['--confg', 'x'], 'Did you mean "--config"?'],
    [['tools', 'ecko'], 'No server named "ecko".\n  Did you mean "echo"?'],
    [['call', 'echo'], 'call needs a server and a tool.'],
    [['--http', 'x'], '--http needs a port from 0 to 65535.'],
    [['--sse', '--stdio'], '--stdio and --http cannot be combined.'],
    [['--show-token'], '--show-token needs --http.'],
    [['--show-token', 'list'], '--show-token needs --http.'],
    [['--http', '0', 'list'], '--http cannot be combined with list.'],
    [['--http=0', '--dry-run'], '--http cannot be combined with --dry-run.'],
    [['--http', '--sse'], '--http and --sse are the same.'],
    [['--http', 'http://127.0.0.1:3006'], '--http takes the address without "http://".'],
    [['--config', 'a', 'list', '--config', 'b'], '--config is given twice.'],
    [['--http', '0', '--http', '0'], '--http is given twice.'],
    [['list', 'echo'], 'list takes no arguments.'],
    [['list', '--log-level', 'loud'], 'Unknown log level "loud".'],
    [['--log-level', 'wran'], 'Did you mean "warn"?'],
  ])('%j is refused with the next step', async (args, message) => {
    const { code, stdout, stderr } = await runCli(echoProject(), args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`switchboard: `);
    expect(stderr).toContain(message);
  });

  test('with --json the error is an object on stdout, and nothing else is said', async () => {
    const { code, json, stderr } = await runCli(echoProject(), ['tools', 'ecko', '--json']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    expect(json).toEqual({
      error: { code: 'SERVER_UNKNOWN', message: 'No server named "ecko".', hint: 'Did you mean "echo"?' },
    });
    expect((await runCli(echoProject(), ['--josn', '--json'])).json.error.code).toBe('USAGE');
  });

  test('a configuration that cannot be used ends a command or HTTP with 78, and says where', async () => {
    const project = createProject({ 'switchboard.config.json': { mcpServers: [] } });
    const named = ['--config', 'switchboard.config.json'];
    for (const args of [['list'], ['list', ...named], ['--http', '0'], ['--http', '0', ...named]]) {
      const { code, stdout, stderr } = await runCli(project, args);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toContain(project.path('switchboard.config.json'));
      expect(stderr).toContain('mcpServers');
    }
    const missing = await runCli(project, ['list', '--config', 'other.json', '--json']);
    expect(missing.code).toBe(78);
    expect(missing.json.error.code).toBe('CONFIG_NOT_FOUND');
  });

  test('a file that is named and missing ends a gateway with 78', async () => {
    const { code, stdout, stderr } = await runCli(createProject(), ['--config', 'other.json']);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('Configuration file not found: ');
  });
});

describe('list', () => {
  test('shows servers, the ones turned off, and no secret; starts nothing', async () => {
    const journal = createProject().path('journal');
    const project = echoProject({
      secret: {
        command: 'run',
        args: ['--key', '${MY_SECRET_VALUE}', '--token', 'abc'],
        env: { E: 'env-value' },
      },
      off: { command: 'x', disabled: true },
    });
    project.write('mcps/mock/.mcp.json', { name: 'mock', command: { cmd: 'node', args: ['index.mjs'] } });
    const env = { MY_SECRET_VALUE: 'hunter2hunter2', TEST_SERVER_JOURNAL: journal };
    const text = await runCli(project, ['list'], { env });
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toContain('--key ${MY_SECRET_VALUE} --token ***');
    expect(text.stdout).toMatch(/^mock +mock_suite +– +node index\.mjs +mcps\/mock\/\.mcp\.json$/m);
    expect(text.stdout).toMatch(/^off +\(off\)$/m);
    const { json, stdout } = await runCli(project, ['list', '--json'], { env });
    expect(json.config).toBe(project.path('switchboard.config.json'));
    expect(json.servers.map((server: Json) => server.name)).toEqual(['echo', 'secret', 'mock']);
    expect(json.servers[0]).toEqual({
      name: 'echo',
      exposure: 'suite',
      suite: 'echo_suite',
      offer: ['tools', 'resources', 'prompts'],
      state: null,
      kind: 'stdio',
      isolation: 'session',
      ...nodeServer('echo'),
      cwd: project.dir,
      source: { file: project.path('switchboard.config.json'), key: 'mcpServers.echo', scope: 'project' },
    });
    expect(json).toMatchObject({ disabled: ['off'], unconfigured: [], compounds: [], gateways: [] });
    for (const shown of [text.stdout, stdout]) expect(shown).not.toMatch(/hunter2|env-value|"abc"/);
    expect(readJournal(journal)).toEqual([]);
  });

  test('shows how each server is shown, and compound tools in a table of their own', async () => {
    const project = mixedProject();
    const { stdout } = await runCli(project, ['list']);
    expect(stdout).toMatch(/^suite +my_suite +–/m);
    expect(stdout).toMatch(/^flat +flat \(flat__\*\) +–/m);
    expect(stdout).toMatch(/^hidden +hidden +–/m);
    expect(stdout).toMatch(/^mute +only resources and prompts +–/m);
    expect(stdout).toMatch(
      /^COMPOUND TOOL +CALLS +DEFINED IN\nboth +hidden\/echo, flat\/add, flat\/slow_eco +switchboard\.config\.json$/m,
    );
    const { json } = await runCli(project, ['list', '--json']);
    expect(json.servers.map(({ name, exposure, suite }: Json) => [name, exposure, suite])).toEqual([
      ['suite', 'suite', 'my_suite'],
      ['flat', 'flat', undefined],
      ['hidden', 'hidden', undefined],
      ['mute', 'flat', undefined],
    ]);
    expect(json.compounds).toEqual([
      {
        name: 'both',
        description: 'Does both.',
        subtools: [
          { server: 'hidden', tools: ['echo'] },
          { server: 'flat', tools: ['add', 'slow_eco'] },
        ],
        source: { file: project.path('switchboard.config.json'), key: 'tools.both' },
      },
    ]);
    const plain = createProject({
      'switchboard.config.json': { exposure: 'flat', naming: 'plain', mcpServers: { e: nodeServer('echo') } },
    });
    expect((await runCli(plain, ['list'])).stdout).toMatch(/^e +flat \(plain names\) +–/m);
  });

  test('shows the state of servers in a running gateway, until it ends', async () => {
    const secret = 'crash line';
    const project = echoProject({ crash: { ...CRASH, env: { SECRET: secret } }, other: nodeServer('echo') });
    const env = { SWITCHBOARD_STATE_DIR: stateOf(project), SWITCHBOARD_LOG_LEVEL: '' };
    const listed = async () => (await runCli(project, ['list', '--json'])).json;
    const client = startClient({ cwd: project.dir, env });
    await client.initialize();
    await client.listTools();
    const pid = Number(
      textOf(await client.call('echo_suite', { action: 'call', subtool: 'pid', args: {} })).trim(),
    );
    await client.call('crash_suite', { action: 'introspect' });
    const { servers, gateways } = await until(async () => {
      const seen = await listed();
      return seen.servers[1].state?.kind === 'crashed' ? seen : undefined;
    });
    expect(servers[0].state).toEqual({ kind: 'running', pid, since: expect.any(String) });
    expect(servers[1].state).toMatchObject({ kind: 'crashed', reason: expect.stringContaining('***') });
    expect(servers[2].state).toEqual({ kind: 'idle' });
    expect(gateways).toEqual([{ pid: client.pid, program: 'switchboard', since: expect.any(String) }]);
    const { stdout } = await runCli(project, ['list']);
    expect(stdout).toMatch(new RegExp(`^echo +echo_suite +running pid ${pid} +`, 'm'));
    expect(stdout).toMatch(/^crash +crash_suite +crashed: Server 'crash' exited with code 1\. .*… +/m);
    expect(stdout).toMatch(/^other +other_suite +idle +/m);
    expect(stdout).toContain(`State reported by switchboard, pid ${client.pid}, since `);
    expect(
      stdout +
        readdirSync(join(stateOf(project), 'run'))
          .filter((name) => name.endsWith('.json'))
          .map((name) => project.read(`.state/run/${name}`))
          .join(''),
    ).not.toContain(secret);

    // A second one, newer, of the same configuration; and one of another, which is not counted.
    const newer = startClient({ cwd: project.dir, env });
    await newer.initialize();
    await newer.call('echo_suite', { action: 'introspect' });
    const foreign = startClient({
      cwd: project.dir,
      env,
      args: ['--config', project.write('foreign.json', { mcpServers: { echo: nodeServer('echo') } })],
    });
    await foreign.initialize();
    await foreign.call('echo_suite', { action: 'introspect' });
    const both = await until(async () => {
      const seen = await listed();
      return seen.gateways.length === 2 ? seen : undefined;
    });
    expect(both.gateways.map((gateway: Json) => gateway.pid)).toEqual([newer.pid, client.pid]);
    expect(both.servers[1].state).toEqual({ kind: 'idle' });
    expect((await runCli(project, ['list'])).stdout).toContain('the newest of 2 gateways');

    // One leaves, one is killed and can remove nothing.
    await newer.close();
    await client.kill('SIGKILL');
    await foreign.close();
    expect(readdirSync(join(stateOf(project), 'run'))).toEqual([`${client.pid}.json`, `${client.pid}.sock`]);
    expect((await listed()).gateways).toEqual([]);
    expect(readdirSync(join(stateOf(project), 'run'))).toEqual([]);
    await Promise.all([client, newer, foreign].map((each) => waitUntilGone(each.marker)));
  });

  test('a gateway that cannot write down its states serves all the same', async () => {
    const project = echoProject();
    const env = {
      SWITCHBOARD_STATE_DIR: project.write('.state', 'in the way'),
      SWITCHBOARD_LOG_LEVEL: 'debug',
    };
    const client = startClient({ cwd: project.dir, env });
    await client.initialize();
    await client.call('echo_suite', { action: 'introspect' });
    await client.waitForStderr(/could not write the state file/);
    expect(textOf(await client.call('echo_suite', { action: 'call', subtool: 'canary' }))).toBeDefined();
    expect((await client.close()).code).toBe(0);
  });

  test('the warnings of the configuration go to stderr, but for those that it tells itself', async () => {
    const project = createProject({
      'switchboard.config.json': {
        suites: { nobody: {} },
        mcpServers: { echo: nodeServer('echo'), unset: { command: '${NOT_SET_ANYWHERE}' } },
      },
    });
    const { code, stderr, stdout } = await runCli(project, ['list']);
    expect(code).toBe(0);
    expect(stderr).toContain('suites.nobody: unknown server');
    expect(stderr).not.toContain('NOT_SET_ANYWHERE');
    expect(stdout).toMatch(/unset .*NOT_SET_ANYWHERE is not set/);
    expect((await runCli(project, ['list', '--log-level', 'error'])).stderr).toBe('');
  });
});

test.skipIf(!existsSync(SCRIPT))(
  'on a terminal the table of servers is as wide as that, elsewhere it is whole',
  async () => {
    const project = echoProject({ long: { command: 'x', args: ['y'.repeat(200)] } });
    const env = { ...process.env, NO_COLOR: '1', SWITCHBOARD_STATE_DIR: stateOf(project) };
    const line = `stty cols 60; '${process.execPath}' '${PROGRAM}' list`;
    const { stdout } = spawnSync(SCRIPT, ['-qec', line, '/dev/null'], {
      cwd: project.dir,
      env,
      encoding: 'utf8',
    });
    const lines = stdout.split(/\r?\n/).filter((each) => each !== '');
    expect(lines.some((each) => /^long .*yyy…/.test(each))).toBe(true);
    for (const each of lines) expect(each.length).toBeLessThanOrEqual(60);
    expect((await runCli(project, ['list'])).stdout).toContain('y'.repeat(200));
  },
);

describe('serving', () => {
  const HELLO =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n' +
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n';

  test('is what happens without a command, with the flags that belong to it', async () => {
    const project = createProject({ 'other.json': { mcpServers: { echo: nodeServer('echo') } } });
    const { code, stdout } = await runCli(
      project,
      ['--config', 'other.json', '--log-level=silent', '--stdio'],
      {
        input: HELLO,
      },
    );
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[1].result.tools.map((tool: Json) => tool.name)).toEqual(['echo_suite']);
  });

  test('warnings of the configuration and lines of servers go to stderr; "silent" is silent', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { crash: CRASH, unset: { command: '${NOT_SET_ANYWHERE}' } },
      },
    });
    const input = `${HELLO}{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"crash_suite","arguments":{"action":"introspect"}}}\n`;
    const loud = await runCli(project, [], { input });
    expect(loud.stderr).toMatch(/^\S+Z switchboard warn .*NOT_SET_ANYWHERE is not set/m);
    expect(loud.stderr).toContain('[crash] crash line 1\n');
    const silent = await runCli(project, [], { input, env: { SWITCHBOARD_LOG_LEVEL: 'silent' } });
    expect(silent.stderr).toBe('');
    expect(silent.stdout).toContain('"id":3');
  });

  const pty = String(spawnSync(SCRIPT, ['--version']).stdout).includes('util-linux');
  test.skipIf(!pty)('in a terminal it explains itself instead of waiting for a host', async () => {
    const project = echoProject();
    const mark = marker();
    const inTerminal = (args: string, input = '', more = {}) =>
      spawnSync(SCRIPT, ['-qec', `"${process.execPath}" "${PROGRAM}" ${args}`, '/dev/null'], {
        cwd: project.dir,
        env: { ...process.env, ...mark.env, NO_COLOR: '', TERM: 'xterm', ...more },
        encoding: 'utf8',
        input,
        timeout: 20_000,
      });
    const welcome = inTerminal('');
    expect(welcome.status).toBe(0);
    expect(welcome.stdout).toContain('\u001b[1mSwitchboard\u001b[22m');
    expect(welcome.stdout).toContain(project.path('switchboard.config.json'));
    expect(welcome.stdout).toContain('1 (echo)');
    expect(welcome.stdout).toContain('switchboard doctor');
    expect(inTerminal('', '', { NO_COLOR: '1' }).stdout).not.toContain('\u001b');
    // With --stdio it serves all the same; Ctrl-D ends it.
    const served = inTerminal('--stdio', '{"jsonrpc":"2.0","id":1,"method":"ping"}\n\u0004');
    expect(served.stdout).toContain('"result":{}');
    await waitUntilGone(mark, 5000);
  });
});
