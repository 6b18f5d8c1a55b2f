/** add, remove and reload: the configuration file as it is left, and gateways that run with it. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allBackups } from '../../src/shared/backups.ts';
import { ownState } from '../helpers/gateway.ts';
import { alive, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf, type Json, type RawClient } from '../helpers/raw-client.ts';
import { runProgram, type Finished, type RunOptions } from '../helpers/run-program.ts';
import { createProject, nodeServer, ROOT, serverPath, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CONFIG = 'switchboard.config.json';
const NODE = process.execPath;
const ECHO = ['--', NODE, serverPath('echo')];

type Env = Readonly<Record<string, string | undefined>>;

/** What a test sets is all that counts. */
function cleanEnv(project: Project, env: Env = {}): Env {
  return {
    SWITCHBOARD_LOG_LEVEL: undefined,
    MCP_PROXY_CONFIG_PATH: undefined,
    MCP_PROXY_LOG_LEVEL: undefined,
    MCP_PROXY_LOG_DIRECTORY_PATH: undefined,
    ...ownState(project),
    HOST: 'set, or a server would be skipped',
    ...env,
  };
}

/** The texts that were kept of a configuration, the newest first. */
const keptOf = (project: Project): { path: string; text: string }[] =>
  allBackups(project.path('.state'))
    .filter(({ file }) => file === project.path(CONFIG))
    .map(({ path }) => ({ path, text: readFileSync(path, 'utf8') }));

/** Runs a program to its end; nothing that it started may be left. */
function run(project: Project, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return runProgram(project, args, { ...options, env: cleanEnv(project, options.env) });
}

/** A gateway that others can see. */
async function startGateway(
  project: Project,
  { program = 'index', env, args = [] }: RunOptions & { args?: readonly string[] } = {},
): Promise<RawClient> {
  const client = startClient({
    command: NODE,
    args: [join(ROOT, 'dist', `${program}.js`), ...args],
    cwd: project.dir,
    env: cleanEnv(project, env),
  });
  await client.initialize();
  await until(() => existsSync(project.path('.state/run', `${client.pid}.json`)), {
    what: 'the gateway to be seen',
  });
  return client;
}

const pidOf = async (client: RawClient, server: string): Promise<number> =>
  Number(textOf(await client.call(`${server}_suite`, { action: 'call', subtool: 'pid', args: {} })));

const toolNames = async (client: RawClient): Promise<string[]> =>
  (await client.listTools()).map((tool) => tool.name);

const toldOfNewTools = (client: RawClient, from: number) =>
  client.waitFor(({ method }) => method === 'notifications/tools/list_changed', { from });

async function leave(...clients: readonly RawClient[]): Promise<void> {
  for (const client of clients) {
    expect((await client.close()).code).toBe(0);
    expect(processesWith(client.marker)).toEqual([]);
  }
}

const COMMENTED = `{
  // Ours.
  "mcpServers": {
    /* Files of the project. */
    "files": { "command": "files-server", "args": ["."] }, // the first

    // Notes.
    "notes": {
      "command": "notes-server",
      "env": { "TOKEN": "hunter2hunter2", "HOST": "\${HOST}" },
    },
  },
  "logLevel": "warn", // quiet
}
`;

describe('add', () => {
  test('writes an entry and leaves the rest of the file as it was, and keeps the old text', async () => {
    const project = createProject({ [CONFIG]: COMMENTED, 'tools/db/server.js': '' });
    const { code, stdout, stderr } = await run(project, [
      ...['add', 'db', '--env', 'PGHOST=localhost', '--env', 'EMPTY=', '--cwd', 'tools/db'],
      ...['--', 'node', 'server.js', '--read-only', '--json', '--', 'a b'],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `Added "db" to ${project.path(CONFIG)}. A backup is in ${keptOf(project)[0]!.path}.\n` +
        `  node server.js --read-only --json -- 'a b'\n` +
        'No gateway is running with this configuration; the next one reads it.\n',
    );
    const after = project.read(CONFIG);
    const [head, tail] = COMMENTED.split('  },\n  "logLevel"');
    expect(after.startsWith(head!)).toBe(true);
    expect(after.endsWith(`  },\n  "logLevel"${tail!}`)).toBe(true);
    expect(JSON.parse(`{${after.slice(head!.length, -`  },\n  "logLevel"${tail!}`.length - 2)}}`)).toEqual({
      db: {
        command: 'node',
        args: ['server.js', '--read-only', '--json', '--', 'a b'],
        env: { PGHOST: 'localhost', EMPTY: '' },
        cwd: 'tools/db',
      },
    });
    expect(keptOf(project)).toMatchObject([{ text: COMMENTED }]);
    const { json } = await run(project, ['list', '--json']);
    expect(json.servers.map((server: Json) => server.name)).toEqual(['files', 'notes', 'db']);
    expect(json.servers[2].cwd).toBe(project.path('tools/db'));
  });

  test('makes the file where there is none, with nothing to keep', async () => {
    const project = createProject();
    const { code, json } = await run(project, ['add', 'memory', '--project', '--json', 'memory-server', 'a']);
    expect(code).toBe(0);
    expect(json).toEqual({
      server: { name: 'memory', command: 'memory-server', args: ['a'], env: [], cwd: project.dir },
      replaced: false,
      elsewhere: null,
      file: project.path(CONFIG),
      scope: 'project',
      changed: true,
      dryRun: false,
      backup: null,
      schema: project.path('.switchboard/switchboard.config.schema.json'),
      gateways: [],
    });
    expect(JSON.parse(project.read(CONFIG))).toEqual({
      $schema: './.switchboard/switchboard.config.schema.json',
      mcpServers: { memory: { command: 'memory-server', args: ['a'] } },
    });
    // Beside the state directory, which is elsewhere for everybody else.
    expect(readdirSync(project.dir)).toEqual(['.state', '.switchboard', CONFIG]);
    await run(project, ['add', 'more', '--no-backup', 'x']);
    // Beside the state directory, which is elsewhere for everybody else.
    expect(readdirSync(project.dir)).toEqual(['.state', '.switchboard', CONFIG]);
  });

  test('takes the command literally and says so, fills in --env, and a gateway starts exactly that', async () => {
    const project = createProject({ [CONFIG]: {} });
    const { code, stderr } = await run(project, [
      ...['add', 'e', '--env', 'T=${HOST}! $$ $${X}', ...ECHO, '${HOME}', '$HOME', 'ü\u2028'],
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^switchboard: \$\{…\} in the command was taken literally\..*\n$/);
    const client = await startGateway(project);
    const call = async (subtool: string, args: Json) =>
      textOf(await client.call('e_suite', { action: 'call', subtool, args }));
    expect(await call('env', { name: 'T' })).toContain('set, or a server would be skipped! $$ ${X}');
    expect(JSON.parse(await call('whoami', {})).args).toEqual(['${HOME}', '$HOME', 'ü\u2028']);
    await leave(client);
  });

  test('a bare package, a pasted line for another program and -c work', async () => {
    const project = createProject({ 'other.json': {} });
    const paste = [
      'claude',
      'mcp',
      'add',
      '-s',
      'local',
      'web',
      '-t',
      'http',
      'https://x.test/mcp',
      '-H',
      'A: b',
    ];
    for (const args of [['@modelcontextprotocol/server-memory'], paste])
      expect(await run(project, ['-c', 'other.json', 'add', ...args])).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(project.read('other.json'))).toEqual({
      mcpServers: {
        memory: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
        web: { type: 'http', url: 'https://x.test/mcp', headers: { A: 'b' } },
      },
    });
  });

  test('makes the first file of mcp-proxy-server too, but none that is named', async () => {
    const project = createProject();
    const program = 'mcp-proxy-server';
    expect((await run(project, ['add', 'a', '--dry-run', 'x'], { program })).stdout).toContain('(no file)');
    expect(existsSync(project.path('config.json'))).toBe(false);
    const { code, stdout } = await run(project, ['add', 'a', 'x'], { program });
    expect(code).toBe(0);
    expect(stdout).toContain(project.path('config.json'));
    expect(JSON.parse(project.read('config.json'))).toEqual({ mcpServers: { a: { command: 'x' } } });
    const named = await run(project, ['--config', 'slip.json', 'add', 'b', 'x'], { program });
    expect(named.code).toBe(78);
    expect(existsSync(project.path('slip.json'))).toBe(false);
  });

  test('--cwd is meant from where you are, and written from where the file is', async () => {
    const project = createProject({ [`sub/${CONFIG}`]: {}, 'sub/inner/x': '', 'other/x': '' });
    const file = project.path('sub', CONFIG);
    const add = async (name: string, cwd: string) =>
      run(project, ['--config', file, 'add', name, '--cwd', cwd, 'x']);
    await add('inner', 'sub/inner');
    await add('same', 'sub');
    await add('other', 'other');
    await add('full', project.path('sub/inner'));
    const { mcpServers } = JSON.parse(project.read(`sub/${CONFIG}`));
    expect(Object.entries(mcpServers).map(([name, entry]) => [name, (entry as Json).cwd])).toEqual([
      ['inner', 'inner'],
      ['same', '.'],
      ['other', project.path('other')],
      ['full', project.path('sub/inner')],
    ]);
  });

  test('--dry-run shows what would change, without values of environments, and changes nothing', async () => {
    const project = createProject({ [CONFIG]: COMMENTED });
    const args = ['add', 'db', '--dry-run', '--env', 'KEY=swordfish', '--', 'node', 'x.js'];
    const { code, stdout, stderr } = await run(project, args);
    expect(code).toBe(0);
    expect(stderr).toContain('the value of KEY is written into the file');
    expect(stderr).not.toContain('swordfish');
    expect(stdout).toMatch(
      /^--- (.*)\n\+\+\+ \1\n@@ -\d+,\d+ \+\d+,\d+ @@\n(?: .*\n)+(?:\+.*\n)+(?: .*\n)+$/,
    );
    expect(stdout).toContain('+    "db": {\n+      "command": "node",\n');
    expect(stdout).toContain('"TOKEN": "***", "HOST": "${HOST}"');
    const { json } = await run(project, [...args.slice(0, 2), '--json', ...args.slice(2)]);
    expect(json).toMatchObject({ changed: false, dryRun: true, backup: null, diff: stdout });
    for (const shown of [stdout, JSON.stringify(json)]) expect(shown).not.toMatch(/hunter2|swordfish/);
    expect(project.read(CONFIG)).toBe(COMMENTED);
    expect(readdirSync(project.dir).filter((name) => name !== '.state')).toEqual([CONFIG]);
    const fresh = createProject();
    const made = await run(fresh, ['add', 'a', '--project', '--dry-run', 'b']);
    expect(made.stdout).toContain(`--- (no file)\n+++ ${fresh.path(CONFIG)}\n@@ -0,0 +1,`);
    expect(readdirSync(fresh.dir)).toEqual([]);
  });

  test.each([
    [['add'], 2, 'add needs a name and a command.'],
    [['add', 'x'], 2, 'add needs a name and a command.'],
    [['add', 'x', '--'], 2, 'add needs a name and a command.'],
    [
      ['add', 'x', 'npx', '-y', 'p'],
      2,
      'Put -- before the command, and our own flags before that: x -- npx …',
    ],
    [['add', 'x', 'npx', '--config', 'p'], 2, 'It is not clear whose flag "--config" is'],
    [['add', 'x', '--env', 'swordfish', '--', 'y'], 2, '--env needs a name and a value.'],
    [['add', 'x', '--env', '=swordfish', '--', 'y'], 2, '--env needs a name and a value.'],
    [['add', 'a__b', 'y'], 2, 'contains "__"'],
    [['add', '', 'y'], 2, 'A server needs a name.'],
    [['add', 'x', '--', ' '], 2, 'The command is empty.'],
    [['add', 'x', '--', NODE, join(ROOT, 'dist/index.js')], 2, 'would start this gateway itself'],
    [['add', 'x', '--repalce', '--', 'y'], 2, 'Did you mean "--replace"?'],
    [['add', 'files', 'y'], 2, ' already.\n  Remove it first'],
    [['add', 'x', '--config', 'no.json', '--', 'y'], 78, 'Configuration file not found'],
    [['add', 'x', 'https://x.test/mcp'], 2, 'switchboard add x --url https://x.test/mcp'],
    [['add', 'x', '--url', 'localhost:3000/mcp'], 2, 'Write --url http://localhost:3000/mcp'],
    [['remove'], 2, 'remove needs the name of one server.'],
    [['remove', 'a', 'b'], 2, 'remove needs the name of one server.'],
    [['remove', 'file'], 2, 'No server named "file".\n  Did you mean "files"?'],
    [['remove', 'quite-another'], 2, 'There are: files, notes.'],
    [['reload', 'files'], 2, 'reload takes no arguments.'],
  ])('%j is refused, and nothing is changed', async (args, code, message) => {
    const project = createProject({ [CONFIG]: COMMENTED });
    const text = await run(project, args);
    expect(text.stdout).toBe('');
    expect(text.stderr).toContain(message);
    expect(text.code).toBe(code);
    const { json } = await run(project, [args[0]!, '--json', ...args.slice(1)]);
    expect(json.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    expect(text.stderr + JSON.stringify(json)).not.toContain('swordfish');
    expect(project.read(CONFIG)).toBe(COMMENTED);
    expect(readdirSync(project.dir).filter((name) => name !== '.state')).toEqual([CONFIG]);
  });

  test('--replace writes over an entry, also over one that is off or cannot be used', async () => {
    const project = createProject({
      [CONFIG]: {
        mcpServers: {
          old: { command: 'old', description: 'an old one' },
          off: { command: 'off', disabled: true },
          bad: { comand: 'bad' },
          unset: { command: '${NOT_SET_ANYWHERE}' },
        },
      },
    });
    for (const name of ['old', 'off', 'bad', 'unset']) {
      const refused = await run(project, ['add', name, '--json', 'new']);
      expect(refused.json.error).toMatchObject({
        code: 'SERVER_EXISTS',
        hint: expect.stringContaining('--replace'),
      });
      const { code, stdout } = await run(project, ['add', name, '--replace', 'new']);
      expect(code).toBe(0);
      expect(stdout).toContain(`Replaced "${name}" in `);
    }
    const { mcpServers } = JSON.parse(project.read(CONFIG));
    expect(mcpServers).toEqual({
      old: { command: 'new' },
      off: { command: 'new' },
      bad: { command: 'new' },
      unset: { command: 'new' },
    });
    const before = keptOf(project);
    const again = await run(project, ['add', 'old', '--replace', 'new']);
    expect(again).toMatchObject({
      code: 0,
      stdout: `"old" is in ${project.path(CONFIG)} like this already.\n`,
    });
    expect(keptOf(project)).toEqual(before);
    const secret = await run(project, ['add', 'old', '--replace', '--env', 'A=swordfish', 'new']);
    expect(secret.code).toBe(0);
    const hidden = await run(project, ['add', 'old', '--replace', '--dry-run', '--env', 'A=other', 'new']);
    expect(hidden.stdout).toBe(`In ${project.path(CONFIG)} only secret values would change.\n`);
  });

  test('a server that another file defines is named with its file', async () => {
    const project = createProject({
      'mcps/mock/.mcp.json': { name: 'mock', command: { cmd: 'node', args: ['index.mjs'] } },
    });
    const file = project.path('mcps/mock/.mcp.json');
    const added = await run(project, ['add', 'mock', '--project', '--replace', 'x']);
    expect(added.code).toBe(2);
    expect(added.stderr).toContain(`There is a server named "mock" already, defined in ${file}.`);
    const removed = await run(project, ['remove', 'mock']);
    expect(removed.code).toBe(2);
    expect(removed.stderr).toContain(`"mock" is not defined in the configuration but in ${file}.`);
    expect(removed.stderr).toContain('Edit that file');
    expect(existsSync(project.path(CONFIG))).toBe(false);
  });

  test('a configuration that is a program, read-only or wrong is left alone', async () => {
    const project = createProject({ 'switchboard.config.mjs': 'export default { mcpServers: {} };\n' });
    for (const args of [
      ['add', 'a', 'b'],
      ['remove', 'a'],
    ]) {
      const { code, stderr } = await run(project, args);
      expect(code).toBe(78);
      expect(stderr).toContain('is a program, which only its author can change.');
    }
    const wrong = createProject({ [CONFIG]: '{ "mcpServers": { "a": ' });
    expect((await run(wrong, ['add', 'a', 'b'])).code).toBe(78);
    if (process.getuid?.() === 0) return; // Nothing is read-only for root.
    const locked = createProject({ [CONFIG]: {} });
    chmodSync(locked.path(CONFIG), 0o444);
    expect((await run(locked, ['add', 'a', 'b'])).stderr).toContain('cannot be written');
  });

  test('rights and links of the file are kept', async () => {
    const project = createProject({ [CONFIG]: {} });
    chmodSync(project.path(CONFIG), 0o600);
    await run(project, ['add', 'a', '--env', 'SECRET=1', '--', 'b']);
    await run(project, ['add', 'b', '--', 'b']);
    const [kept] = keptOf(project);
    for (const path of [project.path(CONFIG), kept!.path]) expect(statSync(path).mode & 0o777).toBe(0o600);
    // Nothing beside it that could be committed.
    expect(readdirSync(project.dir).filter((name) => name.startsWith(CONFIG))).toEqual([CONFIG]);
  });
});

describe('add --start', () => {
  test('starts it once and lists its tools', async () => {
    const project = createProject();
    const { code, stdout } = await run(project, ['add', 'e', '--start', ...ECHO]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Started it once, in \d+ ms: 13 tools:\n {2}echo\n {2}slow_echo\n/m);
    const { json } = await run(project, ['add', 'f', '--start', '--json', ...ECHO]);
    expect(json.start).toEqual({
      ok: true,
      ms: expect.any(Number),
      tools: expect.arrayContaining(['echo', 'pid']),
    });
  });

  test('where it does not start, says why with exit code 1, and the entry stays', async () => {
    const project = createProject();
    const gone = await run(project, ['add', 'gone', '--project', '--start', 'no-such-command-here']);
    expect(gone.code).toBe(1);
    expect(gone.stdout).toContain('Added "gone"');
    expect(gone.stderr).toContain('command not found: "no-such-command-here"');
    expect(gone.stderr).toContain('switchboard remove gone takes it out again');
    const crash = ['--', NODE, serverPath('crash'), '--at-start', '--stderr-lines=3'];
    const crashed = await run(project, ['add', 'crash', '--start', '--json', ...crash]);
    expect(crashed.code).toBe(1);
    expect(crashed.json.start).toMatchObject({ ok: false, error: { code: 'SERVER_LOST' } });
    expect(crashed.stderr + JSON.stringify(crashed.json)).toContain('crash line 1');
    expect(Object.keys(JSON.parse(project.read(CONFIG)).mcpServers)).toEqual(['gone', 'crash']);
  });

  test('with --dry-run only tries it', async () => {
    const project = createProject();
    const good = await run(project, ['add', 'e', '--start', '--dry-run', ...ECHO]);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/^\+ +"e": \{$[^]*^Started it once/m);
    const bad = await run(project, ['add', 'e', '--start', '--dry-run', 'no-such-command-here']);
    expect(bad.code).toBe(1);
    expect(bad.stderr).not.toContain('The entry stays');
    expect(readdirSync(project.dir).filter((name) => name !== '.state')).toEqual([]);
  });
});

describe('remove', () => {
  test('takes out the entry with the comments that belong to it', async () => {
    const project = createProject({ [CONFIG]: COMMENTED });
    const look = await run(project, ['remove', 'notes', '--dry-run']);
    expect(look.stdout).toContain('-    // Notes.\n-    "notes": {\n');
    expect(look.stdout).not.toContain('hunter2');
    expect(project.read(CONFIG)).toBe(COMMENTED);
    const { code, json } = await run(project, ['remove', 'notes', '--json']);
    expect(code).toBe(0);
    expect(json).toEqual({
      removed: 'notes',
      file: project.path(CONFIG),
      scope: 'project',
      changed: true,
      dryRun: false,
      backup: keptOf(project)[0]!.path,
      gateways: [],
      mentions: [],
      successor: null,
    });
    expect(project.read(CONFIG)).toBe(COMMENTED.replace(/\n {4}\/\/ Notes\.\n {4}"notes"[^]*? {4}\},\n/, ''));
    expect(keptOf(project)).toMatchObject([{ text: COMMENTED }]);
    await run(project, ['remove', 'files', '--no-backup']);
    expect(keptOf(project)).toMatchObject([{ text: COMMENTED }]);
    expect((await run(project, ['list'])).stdout).toContain('No server is configured.');
  });

  test('one that is off, or cannot be used, goes as well', async () => {
    const project = createProject({
      [CONFIG]: { mcpServers: { off: { command: 'x', disabled: true }, bad: { comand: 'x' } } },
    });
    for (const name of ['off', 'bad']) expect((await run(project, ['remove', name])).code).toBe(0);
    expect(JSON.parse(project.read(CONFIG))).toEqual({ mcpServers: {} });
  });

  test('says what still speaks of it, and who takes its place', async () => {
    const project = createProject({
      [CONFIG]: {
        mcpServers: { a: { command: 'x' }, b: { command: 'y' } },
        suites: { a: { suiteName: 'mine' } },
        tools: { both: { description: 'd', subtools: { a: { tools: [{ name: 't' }] } } } },
      },
      'mcps/a/.mcp.json': { name: 'a', command: { cmd: 'z' } },
    });
    const { code, stdout } = await run(project, ['remove', 'a']);
    expect(code).toBe(0);
    expect(stdout).toContain('suites.a in that file still speaks of it.\ntools.both in that file still');
    expect(stdout).toContain(
      `The server of this name in ${project.path('mcps/a/.mcp.json')} is used instead.`,
    );
  });
});

describe('a running gateway', () => {
  test('is told of what is added and removed; servers that did not change keep their processes', async () => {
    const project = createProject({
      [CONFIG]: { mcpServers: { a: nodeServer('echo'), b: nodeServer('echo') } },
    });
    const client = await startGateway(project);
    const [a, b] = [await pidOf(client, 'a'), await pidOf(client, 'b')];
    expect(await toolNames(client)).toEqual(['a_suite', 'b_suite']);

    let seen = client.messages.length;
    const added = await run(project, ['add', 'c', '--start', ...ECHO]);
    expect(added.code).toBe(0);
    expect(added.stdout).toContain(`Reload signal sent to switchboard, pid ${client.pid}.\n`);
    await toldOfNewTools(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite', 'b_suite', 'c_suite']);
    const c = await pidOf(client, 'c');
    expect(alive(c)).toBe(true);

    // A call that runs meanwhile is not disturbed.
    const slow = client.call('a_suite', {
      action: 'call',
      subtool: 'slow_echo',
      args: { text: 'still here', ms: 1500 },
    });
    seen = client.messages.length;
    const removed = await run(project, ['remove', 'b', '--json']);
    expect(removed.json.gateways).toEqual([{ pid: client.pid, program: 'switchboard', told: true }]);
    await toldOfNewTools(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite', 'c_suite']);
    await until(() => !alive(b), { what: 'the removed server to be gone' });
    expect(textOf(await slow)).toBe('still here');
    expect([await pidOf(client, 'a'), await pidOf(client, 'c')]).toEqual([a, c]);

    // A changed one starts anew, and only that.
    await run(project, ['add', 'c', '--replace', '--env', 'NEW=1', ...ECHO]);
    await until(() => !alive(c), { what: 'the changed server to be gone' });
    expect(await pidOf(client, 'c')).not.toBe(c);
    expect(await pidOf(client, 'a')).toBe(a);
    expect(client.stderr).toMatch(/the configuration was read again.*restarted=c/);
    await leave(client);
  });

  test('reads a file again that was edited by hand, when it is told by reload', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const client = await startGateway(project);
    const a = await pidOf(client, 'a');
    const other = await startGateway(project, {
      args: ['--config', project.write('other.json', { mcpServers: { o: nodeServer('echo') } })],
    });
    const second = await startGateway(project);
    const write = (mcpServers: object) => project.write(CONFIG, { mcpServers });

    write({ a: nodeServer('echo'), z: nodeServer('echo') });
    let seen = client.messages.length;
    const { code, stdout } = await run(project, ['reload']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `Told 2 gateways to reload ${project.path(CONFIG)}:\n` +
        `  switchboard, pid ${second.pid}\n  switchboard, pid ${client.pid}\n`,
    );
    await toldOfNewTools(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite', 'z_suite']);
    await second.waitForStderr(/the configuration was read again/);
    expect(await pidOf(client, 'a')).toBe(a);

    // What is wrong is said here, and nobody is told.
    project.write(CONFIG, '{ "mcpServers": ');
    expect((await run(project, ['reload'])).code).toBe(78);
    project.write(CONFIG, { mcpServers: [] });
    const wrong = await run(project, ['reload']);
    expect(wrong.code).toBe(78);
    expect(wrong.stderr).toContain('Correct it and run: switchboard reload.');
    expect(wrong.stderr).not.toContain('start again');
    project.write(CONFIG, '{ "mcpServers": ');
    // A signal from elsewhere changes nothing either.
    client.signal('SIGHUP');
    await client.waitForStderr(/the configuration was not read again, nothing has changed/);
    expect(await toolNames(client)).toEqual(['a_suite', 'z_suite']);

    write({ a: nodeServer('echo') });
    seen = client.messages.length;
    expect((await run(project, ['reload', '--json'])).json).toMatchObject({
      config: project.path(CONFIG),
      gateways: [{ told: true }, { told: true }],
    });
    await toldOfNewTools(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite']);
    expect(other.stderr).not.toContain('read again');
    await leave(client, second, other);
  });

  test('is left alone with --no-reload, and where nothing has changed', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const client = await startGateway(project);
    const quiet = await run(project, ['add', 'b', '--no-reload', ...ECHO]);
    expect(quiet.code).toBe(0);
    expect(quiet.stdout).toContain(`No reload signal sent to switchboard, pid ${client.pid} (--no-reload).`);
    const { json } = await run(project, ['add', 'b', '--replace', '--json', ...ECHO]);
    expect(json.gateways).toEqual([
      { pid: client.pid, program: 'switchboard', told: false, reason: 'nothing has changed' },
    ]);
    const dry = await run(project, ['remove', 'b', '--dry-run', '--json']);
    expect(dry.json.gateways[0].reason).toBe('--dry-run');
    expect(await toolNames(client)).toEqual(['a_suite']);
    expect(client.stderr).not.toContain('read again');
    await leave(client);
  });

  test('that began without a configuration gets the one that is made', async () => {
    const project = createProject();
    const client = await startGateway(project);
    expect(await toolNames(client)).toEqual(['switchboard_setup']);
    const first = await run(project, ['add', 'a', ...ECHO]);
    expect(first.stdout).toContain(`Reload signal sent to switchboard, pid ${client.pid}.`);
    await until(async () => (await toolNames(client)).includes('a_suite'));
    // From now on it is one of this file.
    await until(async () => (await run(project, ['list', '--json'])).json.gateways.length === 1);
    await run(project, ['add', 'b', ...ECHO]);
    await until(async () => (await toolNames(client)).includes('b_suite'));
    await leave(client);
  });

  test('none is running: reload says so with exit code 1', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const text = await run(project, ['reload']);
    expect(text).toMatchObject({ code: 1, stdout: '' });
    expect(text.stderr).toContain(`No gateway is running with ${project.path(CONFIG)}.`);
    const { code, json } = await run(project, ['reload', '--json']);
    expect(code).toBe(1);
    expect(json.error.code).toBe('NO_GATEWAY');
    // One that was killed is no longer one.
    const client = await startGateway(project);
    await client.kill('SIGKILL');
    expect((await run(project, ['reload'])).code).toBe(1);
    await waitUntilGone(client.marker);
  });

  test('that ends is not disturbed by being told', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const client = await startGateway(project);
    const slow = client.call('a_suite', {
      action: 'call',
      subtool: 'slow_echo',
      args: { text: 'x', ms: 800 },
    });
    await until(() => processesWith(client.marker).length >= 2);
    const closed = client.close();
    for (let at = 0; at < 5; at++) client.signal('SIGHUP');
    expect((await closed).code).toBe(0);
    expect(textOf(await slow)).toBe('x');
    expect(processesWith(client.marker)).toEqual([]);
  });
});

describe('list', () => {
  test('shows servers that were added at run time, and those that are no longer configured', async () => {
    const project = createProject({
      [CONFIG]: {
        management: { approval: 'auto' },
        mcpServers: { a: nodeServer('echo'), old: nodeServer('echo') },
      },
    });
    const client = await startGateway(project);
    await pidOf(client, 'a');
    const secret = 'crash line';
    const addServer = async (name: string, server: string, ...args: string[]) =>
      client.call('add_server', { name, ...nodeServer(server, ...args), env: { SECRET: secret } });
    expect((await addServer('late', 'echo')).result.isError ?? false).toBe(false);
    expect((await addServer('frail', 'crash', '--stderr-lines=3')).result.isError ?? false).toBe(false);
    await client.call('frail_suite', { action: 'call', subtool: 'crash', args: {} });
    await run(project, ['remove', 'old', '--no-reload']);
    const { unconfigured } = await until(async () => {
      const { json } = await run(project, ['list', '--json']);
      return json.unconfigured.some((each: Json) => each.state.kind === 'crashed') ? json : undefined;
    });
    const gateway = client.pid;
    expect(unconfigured).toEqual([
      { name: 'old', state: { kind: 'idle' }, gateway, addedAtRunTime: false },
      {
        name: 'late',
        state: { kind: 'running', pid: expect.any(Number), since: expect.any(String) },
        gateway,
        addedAtRunTime: true,
      },
      { name: 'frail', state: expect.objectContaining({ kind: 'crashed' }), gateway, addedAtRunTime: true },
    ]);
    const { stdout } = await run(project, ['list']);
    expect(stdout).toMatch(/^old +– +idle +– +no longer configured; reload stops it$/m);
    expect(stdout).toMatch(/^late +– +running pid \d+ +– +added at run time$/m);
    expect(stdout).toMatch(/^frail +– +crashed: the log of its gateway says why +– +added at run time$/m);
    const published = readdirSync(project.path('.state/run')).map((name) =>
      project.read(`.state/run/${name}`),
    );
    expect([stdout, ...published].join('')).not.toContain(secret);
    // Reading the configuration again does not take it away.
    await run(project, ['reload']);
    await client.waitForStderr(/the configuration was read again.*removed=old/);
    expect(await toolNames(client)).toEqual(expect.arrayContaining(['a_suite', 'late_suite']));
    await leave(client);
  });
});

describe('mcp-proxy-server', () => {
  const program = 'mcp-proxy-server';

  test('has the same commands, on its config.json', async () => {
    const project = createProject({ 'config.json': { mcpServers: { a: nodeServer('echo') } } });
    const client = await startGateway(project, { program });
    const seen = client.messages.length;
    const added = await run(project, ['add', 'v2', '--', NODE, serverPath('echo-v2')], { program });
    expect(added.code).toBe(0);
    expect(added.stdout).toContain(`Added "v2" to ${project.path('config.json')}`);
    expect(added.stdout).toContain(`Reload signal sent to mcp-proxy-server, pid ${client.pid}.`);
    await toldOfNewTools(client, seen);
    await until(async () => (await toolNames(client)).includes('reverse'));
    const reloaded = await run(project, ['reload'], { program });
    expect(reloaded.stdout).toContain(`  mcp-proxy-server, pid ${client.pid}\n`);
    expect((await run(project, ['remove', 'v2'], { program })).code).toBe(0);
    await until(async () => !(await toolNames(client)).includes('reverse'));
    expect(existsSync(project.path(CONFIG))).toBe(false);
    await leave(client);
  });

  test('also on the one its variable names; without any it says so', async () => {
    const project = createProject({ 'my/own.json': {} });
    const env = { MCP_PROXY_CONFIG_PATH: 'my/own.json' };
    expect((await run(project, ['add', 'a', 'b'], { program, env })).code).toBe(0);
    expect(JSON.parse(project.read('my/own.json'))).toEqual({ mcpServers: { a: { command: 'b' } } });
    const without = await run(project, ['remove', 'a'], { program });
    expect(without.code).toBe(78);
    expect(without.stderr).toContain(`Configuration file not found: ${project.path('config.json')}.`);
    const help = await run(project, ['help', 'add'], { program });
    expect(help.stdout).not.toMatch(/^ +--user/m);
    expect(help.stdout).toContain('Usage: mcp-proxy-server add <name> [flags] -- <command> [args…]');
  });
});

describe('mcpmux', () => {
  const program = 'mcpmux';

  test('--help explains its tools, and has no commands that edit', async () => {
    const { code, stdout } = await run(createProject(), ['--help'], { program });
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
    const version = await run(createProject(), ['--version'], { program });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  test.each(['add', 'remove', 'reload', 'serve'])(
    '%s: servers are added through MCP, it says',
    async (command) => {
      const { code, stderr } = await run(createProject(), [command, 'x', 'y'], { program });
      expect(code).toBe(2);
      expect(stderr).toContain(`mcpmux: Unknown command "${command}".`);
      expect(stderr).toContain('Servers are added through MCP, with its tools add_server');
      expect((await run(createProject(), ['help', command], { program })).code).toBe(2);
    },
  );

  test('the commands that look need --config, and work with it', async () => {
    const project = createProject({ 'mux.json': { mcpServers: { e: nodeServer('echo') } }, [CONFIG]: {} });
    for (const args of [['list'], ['tools'], ['call', 'e', 'pid'], ['dry-run'], ['--dry-run'], ['doctor']]) {
      const refused = await run(project, args, { program });
      expect(refused.code, args.join(' ')).toBe(2);
      expect(refused.stderr).toContain('needs --config');
      expect(refused.stderr).toContain('Servers are added through MCP');
    }
    const look = (...args: string[]) => run(project, ['--config', 'mux.json', ...args], { program });
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
    const help = await run(project, ['help', 'list'], { program });
    expect(help.stdout).toContain('mcpmux --config FILE list');
  });

  test('with --config it is a gateway of that file like any other; without, of none', async () => {
    const project = createProject({ 'mux.json': {} });
    const client = await startGateway(project, {
      program,
      args: ['--config', 'mux.json', '--log-level', 'info'],
    });
    const added = await run(project, ['--config', 'mux.json', 'add', 'e', ...ECHO]);
    expect(added.stdout).toContain(`Reload signal sent to mcpmux, pid ${client.pid}.`);
    await client.waitForStderr(/the configuration was read again/);
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
    expect((await run(project, ['list', '--json'])).json).toMatchObject({ gateways: [], unconfigured: [] });
    await leave(alone);
  });
});

describe('disable and enable', () => {
  test('a running gateway loses the server and gets it back; the file is as it was', async () => {
    const project = createProject({
      [CONFIG]: { mcpServers: { e: nodeServer('echo'), f: nodeServer('echo') } },
    });
    const before = project.read(CONFIG);
    const client = await startGateway(project);
    const tools = async () =>
      ((await client.request('tools/list')).result?.tools as Json[]).map(({ name }) => name);
    expect(await tools()).toEqual(['e_suite', 'f_suite']);
    const off = await run(project, ['disable', 'e']);
    expect(off).toMatchObject({ code: 0, stderr: '' });
    expect(off.stdout).toMatch(/^Turned off "e" in .*\nReload signal sent to /s);
    await until(async () => (await tools()).join() === 'f_suite');
    expect(JSON.parse(project.read(CONFIG)).mcpServers.e).toMatchObject({ command: NODE, disabled: true });
    expect((await run(project, ['disable', 'e'])).stdout).toBe('"e" is turned off already.\n');
    expect(await run(project, ['enable', 'e', '--json'])).toMatchObject({ code: 0, stderr: '' });
    await until(async () => (await tools()).join() === 'e_suite,f_suite');
    expect(project.read(CONFIG)).toBe(before);
    expect((await run(project, ['enable', 'e'])).stdout).toBe('"e" is turned on already.\n');
    await leave(client);
  });

  test('a server of another file is turned off in ours, and that file stays as it is', async () => {
    const project = createProject({
      [CONFIG]: {},
      '.mcp.json': { mcpServers: { shared: { command: 'x' } } },
    });
    const before = project.read('.mcp.json');
    expect((await run(project, ['disable', 'shared'])).code).toBe(0);
    expect(JSON.parse(project.read(CONFIG))).toEqual({ mcpServers: { shared: { disabled: true } } });
    expect((await run(project, ['list', '--json'])).json).toMatchObject({
      servers: [],
      disabled: ['shared'],
    });
    expect((await run(project, ['enable', 'shared'])).code).toBe(0);
    expect((await run(project, ['list', '--json'])).json.servers).toMatchObject([{ name: 'shared' }]);
    expect(project.read('.mcp.json')).toBe(before);
  });

  test('what another file turns off is left to its owner, and a slip gets the nearest name', async () => {
    const project = createProject({
      [CONFIG]: {},
      '.mcp.json': { mcpServers: { shared: { command: 'x', disabled: true } } },
    });
    const { code, stderr } = await run(project, ['enable', 'shared']);
    expect(code).toBe(2);
    expect(stderr).toContain('Take "disabled" out of the file that defines it');
    for (const flags of [[], ['--project']])
      expect((await run(project, ['disable', 'sharde', ...flags])).stderr).toContain(
        'Did you mean "shared"?',
      );
  });
});
