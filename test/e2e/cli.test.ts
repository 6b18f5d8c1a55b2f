/** The command line of the built program, over real servers. Every run must leave no process behind. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, onTestFinished, test } from 'vitest';
import { estimateTokens } from '../../src/shared/tokens.ts';
import { readJournal } from '../helpers/journal.ts';
import { killAll, marker, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf, type Json } from '../helpers/raw-client.ts';
import { createProject, nodeServer, npmServer, ROOT, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const PROGRAM = join(ROOT, 'dist/index.js');
/** Runs a program in a terminal; other systems than Linux have one with other flags. */
const SCRIPT = '/usr/bin/script';

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** What happens while it runs; may send it signals. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void) => Promise<void>;
}

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Json;
}

/** Beside the project, where no gateway of another test writes. */
const stateOf = (project: Project) => project.path('.state');

/** Runs the program to its end and makes sure that nothing it started is left. */
async function run(project: Project, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const mark = marker();
  const env = {
    ...process.env,
    SWITCHBOARD_LOG_LEVEL: '',
    SWITCHBOARD_STATE_DIR: stateOf(project),
    ...mark.env,
    ...options.env,
  };
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: project.dir, env });
  onTestFinished(() => killAll(mark));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  await options.meanwhile?.((signal) => child.kill(signal));
  const code = await closed;
  // Not "soon": the program itself waits for the end of what it started.
  expect(processesWith(mark)).toEqual([]);
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
  };
}

function echoProject(more: Readonly<Record<string, object>> = {}): Project {
  return createProject({ 'switchboard.config.json': { mcpServers: { echo: nodeServer('echo'), ...more } } });
}

/** Every way to show a server, and a compound tool. */
function mixedProject(): Project {
  return createProject({
    'switchboard.config.json': {
      mcpServers: {
        suite: {
          ...nodeServer('echo'),
          suiteName: 'my_suite',
          tools: { add: { name: 'plus', description: 'One more than b.', presets: { a: 1 } } },
        },
        flat: {
          ...nodeServer('echo'),
          exposure: 'flat',
          hiddenTools: ['big', 'biig'],
          tools: { echo: { name: 'say' } },
        },
        hidden: { ...nodeServer('echo'), exposure: 'hidden' },
        mute: { ...nodeServer('echo'), exposure: 'flat', offer: ['resources', 'prompts'] },
      },
      tools: {
        both: {
          description: 'Does both.',
          subtools: {
            hidden: { tools: [{ name: 'echo' }] },
            flat: { tools: [{ name: 'add' }, { name: 'slow_eco' }] },
          },
        },
      },
    },
  });
}

const COMMANDS = ['list', 'tools', 'call', 'dry-run', 'doctor', 'add', 'remove', 'reload'];
const GONE = { command: 'no-such-command-here' };
const CRASH = nodeServer('crash', '--at-start', '--stderr-lines=8');

describe('help and mistakes', () => {
  test('--help teaches, help <command> too, --version says the version', async () => {
    const project = createProject();
    const help = await run(project, ['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const word of [...COMMANDS, 'Examples:', 'Environment:', 'Exit codes:']) {
      expect(help.stdout).toContain(word);
    }
    for (const words of ['~/.local/state/switchboard', 'With --http: 0 when a signal ended it, 1 where'])
      expect(help.stdout).toContain(words);
    expect((await run(project, ['-h'])).stdout).toBe(help.stdout);
    expect((await run(project, ['--help', 'list'])).stdout).toContain('Usage: switchboard list');
    expect((await run(project, ['help'])).stdout).toBe(help.stdout);
    const version = await run(project, ['--version']);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  test.each(COMMANDS)('%s --help has examples', async (command) => {
    const project = createProject();
    const help = await run(project, [command, '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain(`Usage: switchboard ${command}`);
    expect(help.stdout).toContain('Examples:');
    expect((await run(project, ['help', command])).stdout).toBe(help.stdout);
  });

  test.each([
    [['doctro'], 'Unknown command "doctro".\n  Did you mean "doctor"?'],
    [['list', '--jsno'], 'Unknown flag "--jsno".\n  Did you mean "--json"?'],
    [['--confg', 'x'], 'Did you mean "--config"?'],
    [['tools', 'ecko'], 'No server named "ecko".\n  Did you mean "echo"?'],
    [['call', 'echo'], 'call needs a server and a tool.'],
    [['--http', 'x'], '--http needs a port from 0 to 65535.'],
    [['--sse', '--stdio'], '--stdio and --http exclude each other.'],
    [['--show-token'], '--show-token belongs to --http.'],
    [['--show-token', 'list'], '--show-token belongs to --http.'],
    [['--http', '0', 'list'], '--http serves clients, and list does something else.'],
    [['--http=0', '--dry-run'], '--http serves clients, and --dry-run does something else.'],
    [['--http', '--sse'], '--http and --sse are the same.'],
    [['--http', 'http://127.0.0.1:3006'], '--http takes the address without "http://".'],
    [['--config', 'a', 'list', '--config', 'b'], '--config is given twice.'],
    [['--http', '0', '--http', '0'], '--http is given twice.'],
    [['list', 'echo'], 'list takes no arguments.'],
    [['list', '--log-level', 'loud'], 'Unknown log level "loud".'],
    [['--log-level', 'wran'], 'Did you mean "warn"?'],
  ])('%j is refused with the next step', async (args, message) => {
    const { code, stdout, stderr } = await run(echoProject(), args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`switchboard: `);
    expect(stderr).toContain(message);
  });

  test('with --json the error is an object on stdout, and nothing else is said', async () => {
    const { code, json, stderr } = await run(echoProject(), ['tools', 'ecko', '--json']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    expect(json).toEqual({
      error: { code: 'SERVER_UNKNOWN', message: 'No server named "ecko".', hint: 'Did you mean "echo"?' },
    });
    expect((await run(echoProject(), ['--josn', '--json'])).json.error.code).toBe('USAGE');
  });

  test('a configuration that cannot be used ends with 78 and says where', async () => {
    const project = createProject({ 'switchboard.config.json': { mcpServers: [] } });
    for (const args of [['list'], ['--config', 'switchboard.config.json']]) {
      const { code, stdout, stderr } = await run(project, args);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toContain(project.path('switchboard.config.json'));
      expect(stderr).toContain('mcpServers');
    }
    const missing = await run(project, ['list', '--config', 'other.json', '--json']);
    expect(missing.code).toBe(78);
    expect(missing.json.error.code).toBe('CONFIG_NOT_FOUND');
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
    const text = await run(project, ['list'], { env });
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toContain('--key ${MY_SECRET_VALUE} --token ***');
    expect(text.stdout).toMatch(/^mock +mock_suite +– +node index\.mjs +mcps\/mock\/\.mcp\.json$/m);
    expect(text.stdout).toMatch(/^off +\(off\)$/m);
    const { json, stdout } = await run(project, ['list', '--json'], { env });
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
    const { stdout } = await run(project, ['list']);
    expect(stdout).toMatch(/^suite +my_suite +–/m);
    expect(stdout).toMatch(/^flat +flat \(flat__\*\) +–/m);
    expect(stdout).toMatch(/^hidden +hidden +–/m);
    expect(stdout).toMatch(/^mute +only resources and prompts +–/m);
    expect(stdout).toMatch(
      /^COMPOUND TOOL +CALLS +DEFINED IN\nboth +hidden\/echo, flat\/add, flat\/slow_eco +switchboard\.config\.json$/m,
    );
    const { json } = await run(project, ['list', '--json']);
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
    expect((await run(plain, ['list'])).stdout).toMatch(/^e +flat \(plain names\) +–/m);
  });

  test('tells how the servers of a running gateway are doing, until it ends', async () => {
    const secret = 'crash line';
    const project = echoProject({ crash: { ...CRASH, env: { SECRET: secret } }, other: nodeServer('echo') });
    const env = { SWITCHBOARD_STATE_DIR: stateOf(project), SWITCHBOARD_LOG_LEVEL: '' };
    const listed = async () => (await run(project, ['list', '--json'])).json;
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
    const { stdout } = await run(project, ['list']);
    expect(stdout).toMatch(new RegExp(`^echo +echo_suite +running pid ${pid} +`, 'm'));
    expect(stdout).toMatch(/^crash +crash_suite +crashed: Server 'crash' exited with code 1\. .*… +/m);
    expect(stdout).toMatch(/^other +other_suite +idle +/m);
    expect(stdout).toContain(`The states are those of switchboard, pid ${client.pid}, since `);
    expect(
      stdout +
        readdirSync(join(stateOf(project), 'run'))
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
    expect((await run(project, ['list'])).stdout).toContain('the newest of 2 gateways');

    // One leaves, one is killed and can remove nothing.
    await newer.close();
    await client.kill('SIGKILL');
    await foreign.close();
    expect(readdirSync(join(stateOf(project), 'run'))).toEqual([`${client.pid}.json`]);
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
    const { code, stderr, stdout } = await run(project, ['list']);
    expect(code).toBe(0);
    expect(stderr).toContain('suites.nobody: unknown server');
    expect(stderr).not.toContain('NOT_SET_ANYWHERE');
    expect(stdout).toMatch(/unset .*NOT_SET_ANYWHERE is not set/);
    expect((await run(project, ['list', '--log-level', 'error'])).stderr).toBe('');
  });
});

describe('tools', () => {
  test('lists tools with their signature, marks hidden ones, and tells failures', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: {
          echo: { ...nodeServer('echo'), expose: { deny: ['b*'] } },
          gone: GONE,
        },
      },
    });
    const { code, stdout } = await run(project, ['tools']);
    expect(code).toBe(1);
    expect(stdout).toContain('  add {a:number, b:number}\n      Adds two numbers.\n');
    expect(stdout).toContain('  big {bytes:integer} hidden\n');
    expect(stdout).toContain('failed: "gone" could not be started');
    const one = await run(project, ['tools', 'echo', '--json']);
    expect(one.code).toBe(0);
    const add = one.json.servers[0].tools.find((tool: Json) => tool.name === 'add');
    expect(add).toMatchObject({ input: '{a:number, b:number}', summary: 'Adds two numbers.', hidden: false });
    expect(add.definition.inputSchema.required).toEqual(['a', 'b']);
  });

  test('shows the names hosts use where they differ, and what matches no tool', async () => {
    const project = mixedProject();
    const { code, stdout, stderr } = await run(project, ['tools']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^suite → my_suite$/m);
    expect(stdout).toContain('  add {b:number} as plus\n      One more than b.\n');
    expect(stdout).toMatch(/^flat → flat \(flat__\*\)$/m);
    expect(stdout).toContain('  add {a:number, b:number} as flat__add\n');
    expect(stdout).toContain('  echo {text:string} as flat__say\n');
    expect(stdout).toMatch(/^ {2}big .* hidden$/m);
    expect(stdout).toMatch(/^hidden → hidden\n {2}echo \{text:string\}$/m);
    const where = `${project.path('switchboard.config.json')}: mcpServers.flat.hiddenTools[1]`;
    expect(stderr).toBe(
      `switchboard: ${where}: "biig" does not match any tool of this server. Did you mean "big"?\n`,
    );
    const { json, stderr: quiet } = await run(project, ['tools', '--json']);
    expect(quiet).toBe('');
    expect(json.servers[1].unmatched).toEqual([
      {
        file: project.path('switchboard.config.json'),
        key: 'mcpServers.flat.hiddenTools[1]',
        message: '"biig" does not match any tool of this server. Did you mean "big"?',
      },
    ]);
    const tool = (server: number, name: string) =>
      json.servers[server].tools.find((each: Json) => each.name === name);
    expect(tool(0, 'add')).toMatchObject({ exposed: 'plus', hidden: false, input: '{b:number}' });
    expect(tool(0, 'add').definition.inputSchema.required).toEqual(['a', 'b']);
    expect(tool(1, 'echo')).toMatchObject({ exposed: 'flat__say', hidden: false });
    expect(tool(1, 'big')).toMatchObject({ exposed: null, hidden: true });
    expect(tool(2, 'echo')).toMatchObject({ exposed: null, hidden: false });
    expect(tool(3, 'echo')).toMatchObject({ exposed: null, hidden: false });
  });

  test('a reader that is slow gets all of it, also over a pipe that does not wait', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { many: nodeServer('many-tools') } },
      // A Node program that uses its stdout makes the pipe so for all that have it.
      'wrapper.cjs': `const { spawn } = require('node:child_process');
        spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' });
        process.stdout.write('');`,
    });
    const mark = marker();
    const run = (line: string): { stdout: string; stderr: string } =>
      spawnSync('sh', ['-c', line], {
        cwd: project.dir,
        env: { ...process.env, ...mark.env },
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      });
    const tools = `"${PROGRAM}" tools --json`;
    const direct = run(`"${process.execPath}" ${tools}`);
    expect(direct.stdout.length).toBeGreaterThan(200_000);
    const piped = run(`"${process.execPath}" wrapper.cjs ${tools} | (sleep 1; cat)`);
    expect(piped.stderr).toBe('');
    expect(JSON.parse(piped.stdout)).toEqual(JSON.parse(direct.stdout));
    await waitUntilGone(mark, 5000);
  });

  test('a reader that goes away is a quiet end', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { many: nodeServer('many-tools') } },
    });
    const mark = marker();
    const line = `"${process.execPath}" "${PROGRAM}" tools | head -1`;
    const { stdout, stderr } = spawnSync('sh', ['-c', line], {
      cwd: project.dir,
      env: { ...process.env, ...mark.env },
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'many → many_suite\n', stderr: '' });
    await waitUntilGone(mark, 5000);
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
    expect((await run(project, ['list'])).stdout).toContain('y'.repeat(200));
  },
);

describe('call', () => {
  test('types key=value by the schema and prints text', async () => {
    const project = echoProject();
    expect(await run(project, ['call', 'echo', 'add', 'a=2', 'b=3.5'])).toMatchObject({
      code: 0,
      stdout: '5.5\n',
      stderr: '',
    });
    expect((await run(project, ['call', 'echo', 'echo', 'text=5'])).stdout).toBe('5\n');
    expect((await run(project, ['call', 'echo', 'echo', '--args', '{"text":"a"}'])).stdout).toBe('a\n');
    expect(
      (await run(project, ['call', 'echo', 'echo', '--args', '-'], { input: '{"text":"b"}' })).stdout,
    ).toBe('b\n');
    project.write('args.json', { text: 'c' });
    expect((await run(project, ['call', 'echo', 'echo', '--args', '@args.json'])).stdout).toBe('c\n');
  });

  test('makes control characters visible, in text and in JSON', async () => {
    const project = echoProject();
    const said = '\u001b[2Jclear\u009b\u202e';
    const args = ['call', 'echo', 'echo', '--args', JSON.stringify({ text: said })];
    expect((await run(project, args)).stdout).toBe('clear\\x9b\\u{202e}\n');
    const { stdout, json } = await run(project, [...args, '--json']);
    // eslint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(json.content[0].text).toBe(said);
  });

  test('server-everything: numbers, an image, the whole result', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { everything: npmServer('everything') } },
    });
    const sum = await run(project, ['call', 'everything', 'get-sum', 'a=19', 'b=23']);
    expect(sum).toMatchObject({ code: 0, stdout: 'The sum of 19 and 23 is 42.\n' });
    const image = ['call', 'everything', 'get-tiny-image', '--output', 'shots'];
    for (const file of ['shots/get-tiny-image.png', 'shots/get-tiny-image-2.png']) {
      const { stdout } = await run(project, image);
      const path = /^\[image\/png, [\d.]+ kB, (.*)\]$/m.exec(stdout)?.[1];
      expect(path).toBe(project.path(file));
      expect(readFileSync(path!).subarray(1, 4).toString()).toBe('PNG');
    }
    const raw = await run(project, [...image, '--json']);
    expect(raw.json.content[1]).toMatchObject({ type: 'image', data: expect.any(String) });
    expect(raw.stderr).toBe(`${project.path('shots/get-tiny-image-3.png')}\n`);
    const structured = await run(project, [
      'call',
      'everything',
      'get-structured-content',
      'location=Chicago',
      '--json',
    ]);
    expect(structured.json.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  });

  test('a tool that fails is exit 1, in its own words', async () => {
    const project = echoProject();
    const inside = await run(project, ['call', 'echo', 'fail', 'message=not today']);
    expect(inside).toMatchObject({ code: 1, stdout: 'not today\n' });
    expect(inside.stderr).toBe('switchboard: the tool reports an error.\n');
    const outside = await run(project, ['call', 'echo', 'reject', 'message=no']);
    expect(outside).toMatchObject({ code: 1, stdout: '', stderr: 'switchboard: echo said: "no".\n' });
    const json = await run(project, ['call', 'echo', 'reject', 'message=no', '--json']);
    expect(json).toMatchObject({ code: 1, stderr: '' });
    expect(json.json.error).toMatchObject({ code: 'SERVER_ERROR', message: 'no', rpcCode: -32602 });
  });

  test('required arguments that are missing are named before anything is called', async () => {
    const project = echoProject();
    const { code, stdout, stderr } = await run(project, ['call', 'echo', 'add', 'a=1']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'switchboard: "add" needs the required argument b (number).\n' +
        '  Add b=…, or pass all arguments with --args JSON.\n',
    );
    // A server may be more generous than its schema, or complain in its own words.
    const whole = await run(project, ['call', 'echo', 'add', '--args', '{}']);
    expect(whole).toMatchObject({ code: 0, stdout: 'NaN\n', stderr: '' });
  });

  test('slips are exit 2, with the nearest name', async () => {
    const project = echoProject();
    const tool = await run(project, ['call', 'echo', 'ad', 'a=1']);
    expect(tool).toMatchObject({ code: 2, stdout: '' });
    expect(tool.stderr).toContain('Did you mean "add"');
    const key = await run(project, ['call', 'echo', 'echo', 'txt=1']);
    expect(key).toMatchObject({ code: 2, stdout: '' });
    expect(key.stderr).toContain('Did you mean "text"?');
    expect((await run(project, ['call', 'echo', 'add', 'a=x', 'b=1'])).stderr).toContain('must be a number');
    expect((await run(project, ['call', 'echo', 'add', '--args', '[]'])).code).toBe(2);
    expect((await run(project, ['call', 'echo', 'add', 'a=1', '--args', '{}'])).code).toBe(2);
  });

  test('a server that cannot be started is exit 3, with what it wrote', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { gone: GONE, crash: CRASH } },
    });
    const gone = await run(project, ['call', 'gone', 'x']);
    expect(gone).toMatchObject({ code: 3, stdout: '' });
    expect(gone.stderr).toMatch(/^switchboard: "gone" could not be started: .*\n {2}Install it/);
    const crash = await run(project, ['call', 'crash', 'x', '--json']);
    expect(crash.code).toBe(3);
    expect(crash.json.error).toMatchObject({ code: 'SERVER_LOST' });
    expect(crash.stderr).toContain('[crash] crash line 1\n');
  });

  test('a hidden tool needs --hidden', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { echo: { ...nodeServer('echo'), expose: { allow: ['add'] } } },
      },
    });
    const refused = await run(project, ['call', 'echo', 'echo', 'text=a']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--hidden');
    expect((await run(project, ['call', 'echo', 'echo', 'text=a', '--hidden'])).stdout).toBe('a\n');
  });

  test("takes a tool by its server's name or by that of the hosts, and fills in presets", async () => {
    const project = mixedProject();
    const call = async (...args: string[]) => {
      const { stdout, stderr } = await run(project, ['call', ...args]);
      return stdout + stderr;
    };
    expect(await call('suite', 'add', 'b=2')).toBe('3\n');
    expect(await call('suite', 'plus', 'b=2')).toBe('3\n');
    expect(await call('suite', 'plus', '--args', '{"a":100,"b":2}')).toBe('3\n');
    expect(await call('suite', 'plus', 'a=1', 'b=2')).toContain('The tool has no argument "a".');
    expect(await call('flat', 'echo', 'text=own')).toBe('own\n');
    expect(await call('flat', 'say', 'text=renamed')).toBe('renamed\n');
    expect(await call('flat', 'flat__say', 'text=whole')).toBe('whole\n');
    expect(await call('flat', 'flat__sey', 'text=x')).toContain('Did you mean "flat__say"');
    expect(await call('flat', 'big', 'bytes=1')).toContain('Add --hidden to call it all the same.');
    expect(await call('flat', 'big', 'bytes=1', '--hidden')).toHaveLength(2);
    expect(await call('hidden', 'echo', 'text=here')).toBe('here\n');
  });

  test('progress goes to stderr', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { p: nodeServer('progress') } },
    });
    const { code, stderr, stdout } = await run(project, ['call', 'p', 'steps', 'n=3', 'ms=1']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^progress 1\b/);
    expect(JSON.parse(stdout)).toMatchObject({ sent: 3 });
  });

  test('SIGINT cancels the call at the server, ends it, and is exit 130', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { slow: nodeServer('slow') } },
    });
    const journal = project.path('journal');
    const heard = (method: string) => readJournal(journal).some((entry) => entry.method === method);
    const { code, stdout } = await run(project, ['call', 'slow', 'hang'], {
      env: { TEST_SERVER_JOURNAL: journal },
      meanwhile: async (kill) => {
        await until(() => heard('tools/call'), { what: 'the call to arrive' });
        kill('SIGINT');
      },
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(heard('notifications/cancelled')).toBe(true);
  });
});

describe('dry-run', () => {
  test('lists subtools, marks hidden ones, counts tokens; one failure stops nobody', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: {
          echo: { ...nodeServer('echo'), expose: { allow: ['add', 'b*', 'renamed_tool'], deny: ['big'] } },
          gone: GONE,
          crash: CRASH,
        },
      },
    });
    const { code, stdout, stderr } = await run(project, ['--dry-run']);
    expect(code).toBe(1);
    expect(stdout).toContain('echo → echo_suite');
    expect(stdout).toMatch(/^ {4}add +Adds two numbers\.$/m);
    expect(stdout).toMatch(/^ {2}- big +hidden by expose\.deny$/m);
    expect(stdout).toMatch(/^ {2}- echo +hidden by expose\.allow$/m);
    const where = `${project.path('switchboard.config.json')}: mcpServers.echo.expose.allow[2]`;
    expect(stdout).toContain(`  ! ${where}: "renamed_tool" does not match any tool of this server.`);
    expect(stdout).toContain('failed: "gone" could not be started');
    expect(stdout).toMatch(/^echo +13 +≈ \d+ +≈ \d+ +[\d.]+ % +≈ \d+$/m);
    expect(stderr).toContain('[crash] crash line 1\n');

    const { json } = await run(project, ['dry-run', 'echo', '--json']);
    expect(json.servers).toHaveLength(1);
    expect(json.servers[0]).toMatchObject({
      name: 'echo',
      suite: 'echo_suite',
      ok: true,
      unmatched: [expect.objectContaining({ key: 'mcpServers.echo.expose.allow[2]' })],
    });
    expect(json.servers[0].tools.find((tool: Json) => tool.name === 'big')).toMatchObject({
      hidden: true,
      hiddenBy: 'expose.deny',
    });
    expect(json.tokens.savedPercent).toBeGreaterThan(50);
  });

  test('the estimate is within a tenth of a real tokenizer, for three real servers', async () => {
    const project = createProject();
    const mcpServers: Record<string, ReturnType<typeof npmServer>> = {
      everything: npmServer('everything'),
      filesystem: npmServer('filesystem', project.dir),
      memory: npmServer('memory'),
    };
    project.write('switchboard.config.json', { mcpServers });
    const instructionsOf = async (name: string): Promise<string> => {
      const client = startClient({ ...mcpServers[name]!, cwd: project.dir });
      const { result } = await client.initialize();
      await client.close();
      return result.instructions ?? '';
    };
    const { code, json } = await run(project, ['--dry-run', '--json']);
    expect(code).toBe(0);
    const offered = (await run(project, ['tools', '--json'])).json;
    const exactly = { flat: 0 };
    for (const [at, server] of offered.servers.entries()) {
      const flat = server.tools
        .map(({ definition: { name, description, inputSchema } }: Json) =>
          JSON.stringify({ name, description, inputSchema }),
        )
        .join('\n');
      const exact = encode(flat).length + encode(await instructionsOf(server.name)).length;
      exactly.flat += exact;
      expect(Math.abs(json.servers[at].tokens.flat / exact - 1), server.name).toBeLessThan(0.1);
    }
    expect(Math.abs(json.tokens.flat / exactly.flat - 1)).toBeLessThan(0.1);
    expect(json.tokens.savedPercent).toBeGreaterThan(85);
  });

  test('shows what hosts see of every kind of server, and counts exactly what they are sent', async () => {
    const project = mixedProject();
    const { code, stdout, stderr } = await run(project, ['--dry-run']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^suite → my_suite {2}13 subtools, \d+ ms, from switchboard\.config\.json$/m);
    expect(stdout).toMatch(/^ {4}plus +One more than b\. \(add\)$/m);
    expect(stdout).toMatch(
      /^flat → flat \(flat__\*\) {2}13 tools, 1 hidden, \d+ ms, from switchboard\.config\.json$/m,
    );
    expect(stdout).toMatch(/^ {4}flat__add +Adds two numbers\.$/m);
    expect(stdout).toMatch(/^ {2}- big +hidden by hiddenTools$/m);
    expect(stdout).toContain('mcpServers.flat.hiddenTools[1]: "biig" does not match any tool');
    expect(stdout).toMatch(/^hidden → hidden .*\n {2}- echo +not exposed to hosts$/m);
    expect(stdout).toContain(
      'compound tools\n  both  hidden/echo, flat/add, flat/slow_eco\n    ! the server "flat" has no tool "slow_eco". Did you mean "slow_echo"?\n',
    );
    const { json } = await run(project, ['--dry-run', '--json']);
    const [own] = (await run(project, ['tools', 'suite', '--json'])).json.servers;
    const client = startClient({ cwd: project.dir, env: { SWITCHBOARD_STATE_DIR: stateOf(project) } });
    const greeting = await client.initialize();
    const sent = await client.listTools();
    await client.close();
    const cost = (tools: Json[]) =>
      estimateTokens(
        tools
          .map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
          .join('\n'),
      );
    const alone = cost(own.tools.map((tool: Json) => tool.definition));
    const of = (prefix: string) => cost(sent.filter((tool) => tool.name.startsWith(prefix)));
    expect(json.servers.map((server: Json) => server.tokens.flat)).toEqual([alone, alone, alone, alone]);
    expect(json.servers.map((server: Json) => server.tokens.listed)).toEqual([
      of('my_suite'),
      of('flat__'),
      0,
      0,
    ]);
    expect(json.servers.map((server: Json) => server.tokens.introspect > 0)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(json.compounds[0]).toMatchObject({ name: 'both', tokens: { flat: 0, listed: of('both') } });
    const { tokens: instructions } = json.instructions;
    expect(instructions).toBe(estimateTokens(greeting.result.instructions));
    expect(json.tokens).toMatchObject({
      flat: 4 * alone,
      listed: of('my_suite') + of('flat__') + of('both') + Number(instructions),
    });
    expect(stdout).toMatch(/^instructions +≈ \d+$/m);
  });

  test('counts what servers say to every conversation, and tells which suite is better shown flat', async () => {
    const small = nodeServer('echo', '--tools=pid');
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: {
          small,
          wordy: nodeServer('echo', '--tools=pid', `--instructions=${'Many words. '.repeat(100)}`),
          flat: { ...small, exposure: 'flat' },
        },
      },
    });
    const { json } = await run(project, ['--dry-run', '--json']);
    const [first, wordy, flat] = json.servers;
    expect(first.tokensWhenFlat).toBeLessThan(first.tokens.listed);
    expect(wordy.tokens.flat - first.tokens.flat).toBeGreaterThan(250);
    expect([wordy, flat].map((server) => server.tokensWhenFlat)).toEqual([undefined, undefined]);
    const { stdout } = await run(project, ['--dry-run']);
    const advice = stdout.match(
      /show this one flat \("exposure": "flat"\): ≈ (\d+) tokens instead of ≈ (\d+)/g,
    );
    expect(advice).toHaveLength(1);
  });

  test('without any server it says what to do', async () => {
    const { code, stdout } = await run(createProject(), ['--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain('switchboard init');
  });
});

describe('doctor', () => {
  test('all is well: exit 0, nothing started, names of variables only', async () => {
    const project = echoProject();
    const journal = project.path('journal');
    const env = { TEST_SERVER_JOURNAL: journal, DOCTOR_SECRET: 'do-not-show-me' };
    const { code, stdout } = await run(project, ['doctor'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('✓ echo → echo_suite');
    expect(stdout).not.toContain('DOCTOR_SECRET');
    const verbose = await run(project, ['doctor', '--verbose'], { env });
    expect(verbose.stdout).toContain('DOCTOR_SECRET');
    const { json, stdout: text } = await run(project, ['doctor', '--json'], { env });
    expect(json).toMatchObject({ ok: true, node: { ok: true }, warnings: [], disabled: [] });
    expect(json.servers[0]).toMatchObject({
      name: 'echo',
      ok: true,
      program: process.execPath,
      problems: [],
    });
    expect(json.servers[0].env).toContain('DOCTOR_SECRET');
    for (const shown of [stdout, verbose.stdout, text]) expect(shown).not.toContain('do-not-show-me');
    expect(readJournal(journal)).toEqual([]);
  });

  test('says what is missing and what to do: exit 1', async () => {
    const project = echoProject({
      gone: GONE,
      nowhere: { ...nodeServer('echo'), cwd: 'not/there' },
      unbuilt: { command: process.execPath, args: ['dist/missing.js'] },
      narrow: { command: 'node', inheritEnv: false, env: { PATH: '/nonexistent' } },
      unset: { command: '${NOT_SET_ANYWHERE}' },
      off: { command: 'x', disabled: true },
    });
    const { code, stdout } = await run(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ command not found on its PATH: "no-such-command-here"');
    expect(stdout).toContain('Install it, or write its full path');
    expect(stdout).toContain(`✗ its working directory ${project.path('not/there')} does not exist`);
    expect(stdout).toContain(`✗ the script ${project.path('dist/missing.js')} does not exist`);
    expect(stdout).toContain('✗ command not found on its PATH: "node"');
    expect(stdout).toMatch(/^✗ unset cannot be used: .*NOT_SET_ANYWHERE is not set/m);
    expect(stdout).toContain('- off is turned off');
    expect(stdout).toContain('✓ echo');
  });

  test('--start says how each server started', async () => {
    const project = echoProject({ crash: CRASH });
    const { code, json, stderr } = await run(project, ['doctor', '--start', '--json']);
    expect(code).toBe(1);
    expect(json.servers[0].start).toMatchObject({ ok: true, serverInfo: { name: 'echo' }, tools: 13 });
    expect(json.servers[1]).toMatchObject({
      ok: false,
      problems: [],
      start: { ok: false, error: { code: 'SERVER_LOST' } },
    });
    expect(stderr).toContain('[crash] crash line 1\n');
    expect((await run(project, ['doctor', '--start', 'echo'])).stdout).toMatch(
      /started +echo .*13 tools, in \d+ ms/,
    );
  });

  test('compares what the configuration says about tools with what the servers have, when they are started', async () => {
    const project = mixedProject();
    const look = await run(project, ['doctor']);
    expect(look.code).toBe(0);
    expect(look.stdout).toContain('✓ flat → flat (flat__*)');
    expect(look.stdout).toContain('✓ both → hidden/echo, flat/add, flat/slow_eco');
    const { code, stdout } = await run(project, ['doctor', '--start']);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^✗ flat → .*\n {2}! .*hiddenTools\[1\]: "biig" does not match any tool of this server/m,
    );
    expect(stdout).toMatch(
      /^✗ both → .*\n {2}✗ the server "flat" has no tool "slow_eco"\. Did you mean "slow_echo"\?$/m,
    );
    const { json } = await run(project, ['doctor', '--start', '--json']);
    expect(json.servers[1]).toMatchObject({ ok: false, start: { ok: true, unmatched: [{}] } });
    expect(json.compounds).toMatchObject([{ name: 'both', ok: false }]);
  });

  test('a compound tool of a server that is not there, and a log directory that is none, are findings', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { echo: nodeServer('echo') },
        tools: { t: { description: 'd', subtools: { ecko: { tools: [{ name: 'echo' }] } } } },
        logDirectory: 'file',
      },
      file: 'in the way',
    });
    const { code, stdout } = await run(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ t → ecko/echo\n  ✗ unknown server "ecko"');
    expect(stdout).toContain(`✗ the log directory ${project.path('file')} is not a directory`);
  });

  test('a token for HTTP that cannot be filled in is a finding', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { echo: nodeServer('echo') },
        http: { token: '${NOT_SET_ANYWHERE}' },
      },
    });
    const { code, stdout } = await run(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ --http cannot be used: .*http\.token: .*NOT_SET_ANYWHERE is not set/m);
    expect((await run(project, ['doctor', '--json'])).json.config.httpToken.hint).toContain(
      'Set the variable',
    );
  });

  test('a server that is skipped is told of with the reason, by every command that is about it', async () => {
    const project = echoProject({ lost: { command: '${NOT_SET_ANYWHERE}' } });
    for (const args of [
      ['doctor', 'lost'],
      ['call', 'lost', 'echo'],
      ['tools', 'lost'],
      ['auth', 'lost'],
    ]) {
      const { code, stdout, stderr } = await run(project, args);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toContain('switchboard: The server "lost" cannot be used:\n');
      expect(stderr).toMatch(
        /mcpServers\.lost\.command: .*NOT_SET_ANYWHERE is not set; the server cannot be used/,
      );
    }
  });

  test('without a configuration it names what it looked for', async () => {
    const { code, stdout } = await run(createProject(), ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('switchboard.config.json, switchboard.config.jsonc');
    expect(stdout).toContain('✗ no server is configured');
  });

  test('a broken configuration is a finding, not a failure of the doctor', async () => {
    const project = createProject({ 'switchboard.config.json': '{ "mcpServers": ' });
    const { code, stdout } = await run(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain(`✗ ${project.path('switchboard.config.json')}`);
  });
});

describe('serving', () => {
  const HELLO =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n' +
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n';

  test('is what happens without a command, with the flags that belong to it', async () => {
    const project = createProject({ 'other.json': { mcpServers: { echo: nodeServer('echo') } } });
    const { code, stdout } = await run(project, ['--config', 'other.json', '--log-level=silent', '--stdio'], {
      input: HELLO,
    });
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
    const loud = await run(project, [], { input });
    expect(loud.stderr).toMatch(/^\S+Z switchboard warn .*NOT_SET_ANYWHERE is not set/m);
    expect(loud.stderr).toContain('[crash] crash line 1\n');
    const silent = await run(project, [], { input, env: { SWITCHBOARD_LOG_LEVEL: 'silent' } });
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
