/** add, remove and reload: the configuration file as it is left, and gateways that run with it. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allBackups } from '../../src/shared/backups.ts';
import { ECHO, leave, NODE, runEditCommand, startEditedGateway } from '../helpers/edit-commands.ts';
import { textOf, type Json } from '../helpers/raw-client.ts';
import { createProject, ROOT, serverPath, type Project } from '../helpers/temp-project.ts';

const CONFIG = 'switchboard.config.json';

/** The texts that were kept of a configuration, the newest first. */
const keptOf = (project: Project): { path: string; text: string }[] =>
  allBackups(project.path('.state'))
    .filter(({ file }) => file === project.path(CONFIG))
    .map(({ path }) => ({ path, text: readFileSync(path, 'utf8') }));

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
    const { code, stdout, stderr } = await runEditCommand(project, [
      ...['add', 'db', '--env', 'PGHOST=localhost', '--env', 'EMPTY=', '--cwd', 'tools/db'],
      ...['--', 'node', 'server.js', '--read-only', '--json', '--', 'a b'],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `Added "db" to ${project.path(CONFIG)}. A backup is in ${keptOf(project)[0]!.path}.\n` +
        `  node server.js --read-only --json -- 'a b'\n` +
        'No gateway is running with this configuration; the next one will read it.\n',
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
    const { json } = await runEditCommand(project, ['list', '--json']);
    expect(json.servers.map((server: Json) => server.name)).toEqual(['files', 'notes', 'db']);
    expect(json.servers[2].cwd).toBe(project.path('tools/db'));
  });

  test('makes the file where there is none, with nothing to keep', async () => {
    const project = createProject();
    const { code, json } = await runEditCommand(project, [
      'add',
      'memory',
      '--project',
      '--json',
      'memory-server',
      'a',
    ]);
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
    await runEditCommand(project, ['add', 'more', '--no-backup', 'x']);
    // Beside the state directory, which is elsewhere for everybody else.
    expect(readdirSync(project.dir)).toEqual(['.state', '.switchboard', CONFIG]);
  });

  test('-e is --env, and --timeout-ms is how long a start may take, now and later', async () => {
    const project = createProject();
    const slow = ['--', NODE, serverPath('never-initialize')];
    const flags = ['-e', 'ONE=1', '-e', 'TWO=${HOST}', '--timeout-ms', '300', '--start'];
    const added = await runEditCommand(project, ['add', 'slow', '--project', ...flags, ...slow]);
    expect(added.code).toBe(1);
    expect(added.stderr).toMatch(/'slow' did not respond to initialize within 0\.[3-9] s/);
    const { slow: entry } = JSON.parse(project.read(CONFIG)).mcpServers;
    expect(entry).toMatchObject({
      env: { ONE: '1', TWO: '${HOST}' },
      timeouts: { childSpawnMs: 300 },
    });
    for (const wrong of ['soon', '0', '1.5']) {
      const refused = await runEditCommand(project, ['add', 'b', '--timeout-ms', wrong, ...ECHO]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--timeout-ms')]);
    }
  });

  test('takes the command literally and says so, fills in --env, and a gateway starts exactly that', async () => {
    const project = createProject({ [CONFIG]: {} });
    const { code, stderr } = await runEditCommand(project, [
      ...['add', 'e', '--env', 'T=${HOST}! $$ $${X}', ...ECHO, '${HOME}', '$HOME', 'ü\u2028'],
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^switchboard: \$\{…\} in the command was taken literally\..*\n$/);
    const client = await startEditedGateway(project);
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
      expect(await runEditCommand(project, ['-c', 'other.json', 'add', ...args])).toMatchObject({
        code: 0,
        stderr: '',
      });
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
    expect((await runEditCommand(project, ['add', 'a', '--dry-run', 'x'], { program })).stdout).toContain(
      '(no file)',
    );
    expect(existsSync(project.path('config.json'))).toBe(false);
    const { code, stdout } = await runEditCommand(project, ['add', 'a', 'x'], { program });
    expect(code).toBe(0);
    expect(stdout).toContain(project.path('config.json'));
    expect(JSON.parse(project.read('config.json'))).toEqual({ mcpServers: { a: { command: 'x' } } });
    const named = await runEditCommand(project, ['--config', 'slip.json', 'add', 'b', 'x'], { program });
    expect(named.code).toBe(78);
    expect(existsSync(project.path('slip.json'))).toBe(false);
  });

  test('--cwd is meant from where you are, and written from where the file is', async () => {
    const project = createProject({ [`sub/${CONFIG}`]: {}, 'sub/inner/x': '', 'other/x': '' });
    const file = project.path('sub', CONFIG);
    const add = async (name: string, cwd: string) =>
      runEditCommand(project, ['--config', file, 'add', name, '--cwd', cwd, 'x']);
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
    const { code, stdout, stderr } = await runEditCommand(project, args);
    expect(code).toBe(0);
    expect(stderr).toContain('the value of KEY is written to the file');
    expect(stderr).not.toContain('swordfish');
    expect(stdout).toMatch(
      /^--- (.*)\n\+\+\+ \1\n@@ -\d+,\d+ \+\d+,\d+ @@\n(?: .*\n)+(?:\+.*\n)+(?: .*\n)+$/,
    );
    expect(stdout).toContain('+    "db": {\n+      "command": "node",\n');
    expect(stdout).toContain('"TOKEN": "***", "HOST": "${HOST}"');
    const { json } = await runEditCommand(project, [...args.slice(0, 2), '--json', ...args.slice(2)]);
    expect(json).toMatchObject({ changed: false, dryRun: true, backup: null, diff: stdout });
    for (const shown of [stdout, JSON.stringify(json)]) expect(shown).not.toMatch(/hunter2|swordfish/);
    expect(project.read(CONFIG)).toBe(COMMENTED);
    expect(readdirSync(project.dir).filter((name) => name !== '.state')).toEqual([CONFIG]);
    const fresh = createProject();
    const made = await runEditCommand(fresh, ['add', 'a', '--project', '--dry-run', 'b']);
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
    [['add', 'x', 'npx', '--config', 'p'], 2, 'The flag "--config" is ambiguous'],
    [['add', 'x', '--env', 'swordfish', '--', 'y'], 2, '--env needs a name and a value.'],
    [['add', 'x', '--env', '=swordfish', '--', 'y'], 2, '--env needs a name and a value.'],
    [['add', 'a__b', 'y'], 2, 'contains "__"'],
    [['add', '', 'y'], 2, 'A server needs a name.'],
    [['add', 'x', '--', ' '], 2, 'The command is empty.'],
    [['add', 'x', '--', NODE, join(ROOT, 'dist/index.js')], 2, 'would start this gateway itself'],
    [['add', 'x', '--repalce', '--', 'y'], 2, 'Did you mean "--replace"?'],
    [['add', 'files', 'y'], 2, ' already has a server named "files".\n  Remove it first'],
    [['add', 'x', '--config', 'no.json', '--', 'y'], 78, 'Configuration file not found'],
    [['add', 'x', 'https://x.test/mcp'], 2, 'switchboard add x --url https://x.test/mcp'],
    [['add', 'x', '--url', 'localhost:3000/mcp'], 2, 'Use --url http://localhost:3000/mcp'],
    [['remove'], 2, 'remove needs the name of one server.'],
    [['remove', 'a', 'b'], 2, 'remove needs the name of one server.'],
    [['remove', 'file'], 2, 'No server named "file".\n  Did you mean "files"?'],
    [['remove', 'quite-another'], 2, 'Available: files, notes.'],
    [['reload', 'files'], 2, 'reload takes no arguments.'],
  ])('%j is refused, and nothing is changed', async (args, code, message) => {
    const project = createProject({ [CONFIG]: COMMENTED });
    const text = await runEditCommand(project, args);
    expect(text.stdout).toBe('');
    expect(text.stderr).toContain(message);
    expect(text.code).toBe(code);
    const { json } = await runEditCommand(project, [args[0]!, '--json', ...args.slice(1)]);
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
      const refused = await runEditCommand(project, ['add', name, '--json', 'new']);
      expect(refused.json.error).toMatchObject({
        code: 'SERVER_EXISTS',
        hint: expect.stringContaining('--replace'),
      });
      const { code, stdout } = await runEditCommand(project, ['add', name, '--replace', 'new']);
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
    const again = await runEditCommand(project, ['add', 'old', '--replace', 'new']);
    expect(again).toMatchObject({
      code: 0,
      stdout: `"old" is already in ${project.path(CONFIG)}, with the same settings.\n`,
    });
    expect(keptOf(project)).toEqual(before);
    const secret = await runEditCommand(project, ['add', 'old', '--replace', '--env', 'A=swordfish', 'new']);
    expect(secret.code).toBe(0);
    const hidden = await runEditCommand(project, [
      'add',
      'old',
      '--replace',
      '--dry-run',
      '--env',
      'A=other',
      'new',
    ]);
    expect(hidden.stdout).toBe(`In ${project.path(CONFIG)} only secret values would change.\n`);
  });

  test('a server that another file defines is named with its file', async () => {
    const project = createProject({
      'mcps/mock/.mcp.json': { name: 'mock', command: { cmd: 'node', args: ['index.mjs'] } },
    });
    const file = project.path('mcps/mock/.mcp.json');
    const added = await runEditCommand(project, ['add', 'mock', '--project', '--replace', 'x']);
    expect(added.code).toBe(2);
    expect(added.stderr).toContain(`A server named "mock" is already defined in ${file}.`);
    const removed = await runEditCommand(project, ['remove', 'mock']);
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
      const { code, stderr } = await runEditCommand(project, args);
      expect(code).toBe(78);
      expect(stderr).toContain('is a program and cannot be edited automatically.');
    }
    const wrong = createProject({ [CONFIG]: '{ "mcpServers": { "a": ' });
    expect((await runEditCommand(wrong, ['add', 'a', 'b'])).code).toBe(78);
    if (process.getuid?.() === 0) return; // Nothing is read-only for root.
    const locked = createProject({ [CONFIG]: {} });
    chmodSync(locked.path(CONFIG), 0o444);
    expect((await runEditCommand(locked, ['add', 'a', 'b'])).stderr).toContain('cannot be written');
  });

  test('rights and links of the file are kept', async () => {
    const project = createProject({ [CONFIG]: {} });
    chmodSync(project.path(CONFIG), 0o600);
    await runEditCommand(project, ['add', 'a', '--env', 'SECRET=1', '--', 'b']);
    await runEditCommand(project, ['add', 'b', '--', 'b']);
    const [kept] = keptOf(project);
    for (const path of [project.path(CONFIG), kept!.path]) expect(statSync(path).mode & 0o777).toBe(0o600);
    // Nothing beside it that could be committed.
    expect(readdirSync(project.dir).filter((name) => name.startsWith(CONFIG))).toEqual([CONFIG]);
  });
});

describe('add --start', () => {
  test('starts it once and lists its tools', async () => {
    const project = createProject();
    const { code, stdout } = await runEditCommand(project, ['add', 'e', '--start', ...ECHO]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Started it once, in \d+ ms: 13 tools:\n {2}echo\n {2}slow_echo\n/m);
    const { json } = await runEditCommand(project, ['add', 'f', '--start', '--json', ...ECHO]);
    expect(json.start).toEqual({
      ok: true,
      ms: expect.any(Number),
      tools: expect.arrayContaining(['echo', 'pid']),
    });
  });

  test('where it does not start, says why with exit code 1, and the entry stays', async () => {
    const project = createProject();
    const gone = await runEditCommand(project, [
      'add',
      'gone',
      '--project',
      '--start',
      'no-such-command-here',
    ]);
    expect(gone.code).toBe(1);
    expect(gone.stdout).toContain('Added "gone"');
    expect(gone.stderr).toContain('command not found: "no-such-command-here"');
    expect(gone.stderr).toContain('To remove it: switchboard remove gone');
    const crash = ['--', NODE, serverPath('crash'), '--at-start', '--stderr-lines=3'];
    const crashed = await runEditCommand(project, ['add', 'crash', '--start', '--json', ...crash]);
    expect(crashed.code).toBe(1);
    expect(crashed.json.start).toMatchObject({ ok: false, error: { code: 'SERVER_LOST' } });
    expect(crashed.stderr + JSON.stringify(crashed.json)).toContain('crash line 1');
    expect(Object.keys(JSON.parse(project.read(CONFIG)).mcpServers)).toEqual(['gone', 'crash']);
  });

  test('with --dry-run only tries it', async () => {
    const project = createProject();
    const good = await runEditCommand(project, ['add', 'e', '--start', '--dry-run', ...ECHO]);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/^\+ +"e": \{$[^]*^Started it once/m);
    const bad = await runEditCommand(project, ['add', 'e', '--start', '--dry-run', 'no-such-command-here']);
    expect(bad.code).toBe(1);
    expect(bad.stderr).not.toContain('The entry was kept');
    expect(readdirSync(project.dir).filter((name) => name !== '.state')).toEqual([]);
  });
});

describe('remove', () => {
  test('takes out the entry with the comments that belong to it', async () => {
    const project = createProject({ [CONFIG]: COMMENTED });
    const look = await runEditCommand(project, ['remove', 'notes', '--dry-run']);
    expect(look.stdout).toContain('-    // Notes.\n-    "notes": {\n');
    expect(look.stdout).not.toContain('hunter2');
    expect(project.read(CONFIG)).toBe(COMMENTED);
    const { code, json } = await runEditCommand(project, ['remove', 'notes', '--json']);
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
    await runEditCommand(project, ['remove', 'files', '--no-backup']);
    expect(keptOf(project)).toMatchObject([{ text: COMMENTED }]);
    expect((await runEditCommand(project, ['list'])).stdout).toContain('No server is configured.');
  });

  test('one that is off, or cannot be used, goes as well', async () => {
    const project = createProject({
      [CONFIG]: { mcpServers: { off: { command: 'x', disabled: true }, bad: { comand: 'x' } } },
    });
    for (const name of ['off', 'bad']) expect((await runEditCommand(project, ['remove', name])).code).toBe(0);
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
    const { code, stdout } = await runEditCommand(project, ['remove', 'a']);
    expect(code).toBe(0);
    expect(stdout).toContain('suites.a in that file still refers to it.\ntools.both in that file still');
    expect(stdout).toContain(
      `The server of this name in ${project.path('mcps/a/.mcp.json')} is used instead.`,
    );
  });
});
