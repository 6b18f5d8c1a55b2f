/** wrap and unwrap: folders and files as they are left, also by a program that is killed, and the server in between. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { withFileLock } from '../../src/shared/file-lock.ts';
import { killAll, marker, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf, type Json, type RawClient } from '../helpers/raw-client.ts';
import {
  createProject,
  nodeServer,
  npmServer,
  ROOT,
  serverPath,
  type Project,
} from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startAnthropicServer } from '../models/anthropic-server.ts';
import type { ModelServer } from '../models/model-server.ts';

const NODE = process.execPath;
const PROGRAM = join(ROOT, 'dist/index.js');
const CONFIG = 'switchboard.config.json';
const FOLDER = '.switchboard/mcps/memory';

type Env = Readonly<Record<string, string | undefined>>;

/** What a test sets is all that counts. */
function cleanEnv(project: Project, env: Env = {}): Env {
  const none = ['SWITCHBOARD_LOG_LEVEL', 'ANTHROPIC_API_KEY', 'CLAUDE_API_KEY', 'ANTHROPIC_BASE_URL'];
  const more = [
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'SWITCHBOARD_LANGUAGE_MODEL',
    'SWITCHBOARD_LANGUAGE_BASE_URL',
  ];
  return {
    ...Object.fromEntries([...none, ...more].map((name) => [name, undefined])),
    SWITCHBOARD_STATE_DIR: project.path('.state'),
    ...env,
  };
}

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Json;
}

/** Until a process is connected to the holder of the lock of a file. */
async function untilAnotherWaits(file: string): Promise<void> {
  const name = `switchyard-${process.getuid?.()}-file ${fs.realpathSync(file)}`;
  const address = `@switchyard-${createHash('sha256').update(name).digest('hex')}`;
  const sockets = (): number => fs.readFileSync('/proc/net/unix', 'utf8').split(address).length - 1;
  await until(() => sockets() > 1, { what: 'another process that waits for the lock' });
}

/** Runs the program to its end, or until it is killed; nothing that it started may be left. */
async function run(
  project: Project,
  args: readonly string[],
  { env, killWhen, cwd = project.dir }: { env?: Env; killWhen?: () => boolean; cwd?: string } = {},
): Promise<Finished> {
  const mark = marker();
  onTestFinished(() => killAll(mark));
  const child = spawn(NODE, [PROGRAM, ...args], {
    cwd,
    env: { ...process.env, ...cleanEnv(project, env), ...mark.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  if (killWhen !== undefined) {
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
    await until(() => killWhen() || isOver(), { every: 0, what: 'the moment to kill it' });
    child.kill('SIGKILL');
  }
  const code = await closed;
  if (killWhen === undefined) expect(processesWith(mark)).toEqual([]);
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
  };
}

/** Names, kinds, rights and contents of everything in a folder. */
function snapshot(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true }) as string[];
  return Object.fromEntries(
    names.sort().map((name) => {
      const stat = fs.lstatSync(join(folder, name));
      return [
        name,
        `${stat.mode.toString(8)} ${stat.isFile() ? fs.readFileSync(join(folder, name), 'latin1') : ''}`,
      ];
    }),
  );
}

/** A project with the official memory server in a folder of its own, started by relative paths and with a secret. */
function memoryProject(files: Readonly<Record<string, string | object>> = {}): Project {
  const { args } = npmServer('memory');
  return createProject({
    [`${FOLDER}/.mcp.json`]: `{
  // Found by everybody who works here.
  "name": "memory",
  "description": "what is to be remembered",
  "command": { "cmd": "node", "args": ["./start.mjs"], "env": { "MEMORY_FILE_PATH": "\${PROJECT_DIR}/${FOLDER}/memory.jsonl", "TOKEN": "hunter2" } },
}
`,
    [`${FOLDER}/start.mjs`]: `await import(${JSON.stringify(args[0])});\n`,
    ...files,
  });
}

async function gateway(project: Project, env: Env = {}): Promise<RawClient> {
  const client = startClient({
    command: NODE,
    args: [PROGRAM],
    cwd: project.dir,
    env: cleanEnv(project, env),
  });
  await client.initialize();
  return client;
}

const ask = (client: RawClient, query: string) =>
  client.call('memory_suite', { action: 'call', subtool: 'natural_language', args: { query } });

const modelEnv = ({ url }: ModelServer): Env => ({ ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: url });

/** What the model remembers of the last results it was given. */
const lastResult = (body: Json): string => JSON.stringify(body.messages.at(-1).content);

describe('a folder', () => {
  test('is wrapped, used in natural language through the gateway, and unwrapped byte for byte', async () => {
    const project = memoryProject();
    const folder = project.path(FOLDER);
    const before = snapshot(folder);
    const model = await startAnthropicServer(({ body }, turn) => {
      if (turn === 0) {
        const entity = { name: 'user', entityType: 'person', observations: ['favourite editor: vim'] };
        return { calls: [{ name: 'create_entities', input: { entities: [entity] } }] };
      }
      if (turn === 2) return { calls: [{ name: 'read_graph', input: {} }] };
      return turn === 1 ? 'I will remember it.' : `You like ${/editor: (\w+)/.exec(lastResult(body))![1]}.`;
    });
    const env = { ...modelEnv(model), PROJECT_DIR: project.dir };

    const wrapped = await run(project, ['wrap', 'memory'], { env });
    expect(wrapped).toMatchObject({ code: 0, stderr: '' });
    expect(wrapped.stdout).toContain('Wrapped "memory" in');
    expect(wrapped.stdout).toContain('The model is claude-haiku-5-5.');
    expect(fs.readdirSync(folder).sort()).toEqual(
      ['.mcp.json', 'CLAUDE.md', 'memory-claude-wrapper.mjs', 'original', 'start.mjs'].sort(),
    );
    expect(fs.readdirSync(join(folder, 'original'))).toEqual(['.mcp.json']);
    expect(fs.readFileSync(join(folder, 'original/.mcp.json'), 'latin1')).toBe(before['.mcp.json']!.slice(7));
    const outer = fs.readFileSync(join(folder, '.mcp.json'), 'utf8');
    expect(JSON.parse(outer)).toMatchObject({ name: 'memory', description: 'what is to be remembered' });
    expect(outer).not.toContain('hunter2');

    const client = await gateway(project, env);
    const [suite] = await client.listTools();
    expect(suite!.name).toBe('memory_suite');
    expect(suite!.description).toBe(
      "Use this tool for what is to be remembered. Takes requests in natural language: action 'call', subtool 'natural_language', args {query}.",
    );
    const told = textOf(await client.call('memory_suite', { action: 'introspect' }));
    expect(told).toContain('natural_language');
    expect(told).not.toContain('create_entities');
    expect(processesWith(client.marker).some(({ command }) => command.includes('start.mjs'))).toBe(false);
    expect(textOf(await ask(client, 'remember that my favourite editor is vim'))).toContain(
      'I will remember it.',
    );
    expect(processesWith(client.marker).some(({ command }) => command.includes('start.mjs'))).toBe(true);
    expect(textOf(await ask(client, 'what do I like?'))).toContain('You like vim.');
    const claude = fs.readFileSync(join(folder, 'CLAUDE.md'), 'utf8');
    expect(JSON.stringify(model.requests[0]!.body.system)).toContain(
      JSON.stringify(claude.trim()).slice(1, 80),
    );
    expect((await client.close()).code).toBe(0);
    await waitUntilGone(client.marker);
    fs.rmSync(join(folder, 'memory.jsonl'));

    const unwrapped = await run(project, ['unwrap', 'memory'], { env });
    expect(unwrapped).toMatchObject({ code: 0, stderr: '' });
    expect(snapshot(folder)).toEqual(before);
  });

  test('shows one tool as a server of its own, and runs the original in its folder', async () => {
    const where = { name: 'where', command: { cmd: 'node', args: ['./server.mjs'], env: { OWN: 'kept' } } };
    const project = createProject({
      'mcps/where/.mcp.json': where,
      'mcps/where/server.mjs': `process.title = 'x'; await import(${JSON.stringify(serverPath('echo'))});\n`,
    });
    const model = await startAnthropicServer(({ body }, turn) => {
      expect(body.tools.map((tool: Json) => tool.name)).toContain('echo');
      return turn === 0 ? { calls: [{ name: 'echo', input: { text: 'hi' } }] } : 'done';
    });
    const env = modelEnv(model);
    expect((await run(project, ['wrap', 'where', '--max-steps', '4'], { env })).code).toBe(0);
    expect(fs.readFileSync(project.path('mcps/where/CLAUDE.md'), 'utf8')).toContain('echo');
    const client = startClient({
      command: NODE,
      args: ['where-claude-wrapper.mjs', '--max-steps', '4'],
      cwd: project.path('mcps/where'),
      env: cleanEnv(project, env),
    });
    await client.initialize();
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['natural_language']);
    expect(processesWith(client.marker)).toHaveLength(1);
    expect(textOf(await client.call('natural_language', { query: 'echo hi' }))).toContain('done');
    expect(lastResult(model.requests[1]!.body)).toContain('hi');
    expect((await client.close()).code).toBe(0);
    await waitUntilGone(client.marker);
  });

  test('is taken over by a gateway that runs, and uses the model of its host', async () => {
    const project = createProject({ 'mcps/memory/.mcp.json': { name: 'memory', ...nodeServer('echo') } });
    const client = startClient({ command: NODE, args: [PROGRAM], cwd: project.dir, env: cleanEnv(project) });
    client.handle('sampling/createMessage', ({ messages, tools }) => {
      const result = messages.at(-1).content[0];
      const content =
        result?.type === 'tool_result'
          ? { type: 'text', text: `It said ${result.content[0].text}.` }
          : { type: 'tool_use', id: 'a', name: tools[0].name, input: { text: 'hello' } };
      const stopReason = content.type === 'text' ? 'endTurn' : 'toolUse';
      return { result: { role: 'assistant', model: 'mine', content, stopReason } };
    });
    await client.initialize('2025-11-25', { sampling: { tools: {} } });
    await until(() => fs.existsSync(project.path('.state/run', `${client.pid}.json`)), {
      what: 'the gateway to be seen',
    });
    const subtools = async () => textOf(await client.call('memory_suite', { action: 'introspect' }));
    expect(await subtools()).toContain('echo');
    expect((await run(project, ['wrap', 'memory', '--json'])).json.gateways).toMatchObject([
      { pid: client.pid, told: true },
    ]);
    await until(async () => (await subtools()).includes('natural_language'), { what: 'the wrapper' });
    expect(textOf(await ask(client, 'say hello'))).toContain('It said hello.');
    expect((await run(project, ['unwrap', 'memory'])).stdout).toContain('Reload signal sent to');
    await until(async () => !(await subtools()).includes('natural_language'), { what: 'the server itself' });
    expect((await client.close()).code).toBe(0);
  });

  test('works and can be put back whenever wrap or unwrap is killed', async () => {
    const project = memoryProject();
    const env = { PROJECT_DIR: project.dir };
    const folder = project.path(FOLDER);
    const before = snapshot(folder);
    const original = fs.readFileSync(join(folder, '.mcp.json'), 'utf8');
    const at = (...path: string[]) => fs.existsSync(join(folder, ...path));
    const moments = [
      () => at('.switchboard-wrap'),
      () => at('.switchboard-wrap', '.mcp.json'),
      () => at('original'),
      () => at('CLAUDE.md'),
      () => at('memory-claude-wrapper.mjs'),
    ];
    const expectUsable = (): void => {
      if (fs.readFileSync(join(folder, '.mcp.json'), 'utf8') === original) return;
      expect(fs.readFileSync(join(folder, 'original/.mcp.json'), 'utf8')).toBe(original);
      expect([at('memory-claude-wrapper.mjs'), at('CLAUDE.md')]).toEqual([true, true]);
    };
    for (const [number, killWhen] of moments.entries()) {
      await run(project, ['wrap', 'memory'], { env, killWhen });
      expectUsable();
      // Once it is wrapped after all, and the way back is interrupted too.
      if (number === 3) {
        expect((await run(project, ['wrap', 'memory'], { env })).code).toBe(0);
        await run(project, ['unwrap', 'memory'], { env, killWhen: () => !at('original', '.mcp.json') });
        expectUsable();
      }
      expect((await run(project, ['unwrap', folder], { env })).code).toBe(0);
      expect(snapshot(folder)).toEqual(before);
    }
  });

  test('is said to be restored only where there is something to restore', async () => {
    const project = memoryProject();
    const folder = project.path(FOLDER);
    fs.mkdirSync(join(folder, '.switchboard-wrap'));
    const preview = await run(project, ['unwrap', folder, '--dry-run']);
    expect(preview.stdout).toBe(`Would unwrap ${folder}: remove the wrapper.\n`);
    const done = await run(project, ['unwrap', folder]);
    expect(done.stdout).toContain(`Cleaned up ${folder}: the wrapper is removed.\n`);
    expect(fs.existsSync(join(folder, '.switchboard-wrap'))).toBe(false);
  });

  test('is wrapped once where several wrap and unwrap it at the same moment', async () => {
    const project = createProject({
      'mcps/one/.mcp.json': { name: 'one', ...nodeServer('echo') },
      'mcps/one/CLAUDE.md': 'Echo.\n',
    });
    const folder = project.path('mcps/one');
    const before = snapshot(folder);
    const together = (...commands: string[][]) =>
      Promise.all(commands.map((args) => run(project, [...args, '--json'])));
    const wraps = await together(['wrap', 'one'], ['wrap', 'one'], ['wrap', 'one']);
    expect(wraps.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(wraps.filter(({ json }) => json.changed)).toHaveLength(1);
    const mixed = await together(['unwrap', 'one'], ['wrap', 'one'], ['unwrap', folder]);
    expect(mixed.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect((await run(project, ['unwrap', folder])).code).toBe(0);
    expect(snapshot(folder)).toEqual(before);
  });

  const linux = test.runIf(process.platform === 'linux');
  linux('waits for other programs of ours that change its file, such as host edits', async () => {
    const project = createProject({
      'mcps/one/.mcp.json': { name: 'one', ...nodeServer('echo') },
      'mcps/one/CLAUDE.md': 'Echo.\n',
    });
    const file = project.path('mcps/one/.mcp.json');
    const before = fs.readFileSync(file, 'utf8');
    const order: string[] = [];
    for (const command of ['wrap', 'unwrap']) {
      let ended: Promise<unknown> | undefined;
      await withFileLock(file, async () => {
        const now = fs.readFileSync(file, 'utf8');
        ended = run(project, [command, 'one']).then(({ code }) => order.push(`${command} ${code}`));
        await Promise.race([ended, untilAnotherWaits(file)]);
        order.push(`${command} waits`);
        expect(fs.readFileSync(file, 'utf8')).toBe(now);
      });
      await ended;
    }
    expect(order).toEqual(['wrap waits', 'wrap 0', 'unwrap waits', 'unwrap 0']);
    expect(fs.readFileSync(file, 'utf8')).toBe(before);
  });

  test('is seen to be wrapped by list and doctor, with the model that the wrapper would ask', async () => {
    const project = createProject({ 'mcps/one/.mcp.json': { name: 'one', ...nodeServer('echo') } });
    project.write('mcps/one/CLAUDE.md', 'Echo.\n');
    const plain = snapshot(project.dir);
    for (const args of [
      ['wrap', 'one', '--dry-run'],
      ['unwrap', 'one', '--dry-run'],
    ])
      expect((await run(project, args)).code).toBe(0);
    fs.rmSync(project.path('.state'), { recursive: true, force: true });
    expect(snapshot(project.dir)).toEqual(plain);
    const env = { ANTHROPIC_API_KEY: 'sk-test' };
    await run(project, ['wrap', 'one', '--model', 'claude-test'], { env });
    expect((await run(project, ['list'], { env })).stdout).toContain('through claude-test');
    expect((await run(project, ['doctor', 'one'], { env })).stdout).toMatch(
      /model +claude-test \(anthropic\)/,
    );
    // The wrapper has no key where its gateway has none.
    expect((await run(project, ['doctor', 'one'])).stdout).toContain('ANTHROPIC_API_KEY');
  });

  test('keeps the known purpose of its server and invites natural language', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: { name: 'memory', ...npmServer('memory') } });
    expect((await run(project, ['wrap', 'memory', '--model', 'm'])).code).toBe(0);
    const client = await gateway(project);
    const [suite] = await client.listTools();
    expect(suite!.description).toMatch(/^Use this tool for remembering facts .* subtool 'natural_language'/);
    await client.close();
  });

  test('keeps what its server says it does', async () => {
    const echo = nodeServer('echo', '--instructions=Keeps an inventory of things. Ask it first.');
    const project = createProject({ [`${FOLDER}/.mcp.json`]: { name: 'memory', ...echo } });
    expect((await run(project, ['wrap', 'memory', '--model', 'm'])).code).toBe(0);
    const client = await gateway(project);
    const [suite] = await client.listTools();
    expect(suite!.description).toMatch(
      /^Use this tool for memory \("Keeps an inventory of things\."\)\. .* subtool 'natural_language'/,
    );
    await client.close();
  });

  test('is named by its path to unwrap it, also where nothing else can be', async () => {
    const project = createProject({ 'mcps/one/.mcp.json': { name: 'one', ...nodeServer('echo') } });
    const folder = project.path('mcps/one');
    const before = snapshot(folder);
    expect((await run(project, ['unwrap', './mcps/one'])).stdout).toContain('is not wrapped');
    await run(project, ['wrap', 'one', '--model', 'host']);
    fs.rmSync(join(folder, '.mcp.json'));
    const byName = await run(project, ['unwrap', 'one']);
    expect(byName).toMatchObject({ code: 2 });
    expect(byName.stderr).toContain('pass its folder: switchboard unwrap ./mcps/memory');
    expect((await run(project, ['unwrap', './mcps/one'])).code).toBe(0);
    expect(snapshot(folder)).toEqual(before);
    expect((await run(project, ['unwrap', 'x'.repeat(300)])).code).toBe(2);
  });

  test('keeps what a person has changed', async () => {
    const project = memoryProject();
    const env = { PROJECT_DIR: project.dir };
    await run(project, ['wrap', 'memory'], { env });
    fs.appendFileSync(project.path(FOLDER, 'CLAUDE.md'), 'Be brief.\n');
    const outer = project.path(FOLDER, '.mcp.json');
    const text = fs.readFileSync(outer, 'utf8');
    fs.writeFileSync(outer, text.replace('what is to be', 'all that is to be'));
    const refused = await run(project, ['unwrap', 'memory'], { env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('was changed after it was written: description.');
    fs.writeFileSync(outer, text);
    const done = await run(project, ['unwrap', 'memory', '--json'], { env });
    expect(done.json).toMatchObject({ changed: true, kept: [project.path(FOLDER, 'CLAUDE.md')] });
  });

  test('of a remote server is wrapped too', async () => {
    const project = createProject({
      'mcps/docs/.mcp.json': { name: 'docs', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': 'hunter2' } },
    });
    const before = snapshot(project.path('mcps/docs'));
    const { code, stderr } = await run(project, ['wrap', 'docs', '--model', 'host']);
    expect(code).toBe(0);
    expect(stderr).toContain('could not be started, so CLAUDE.md has no tools');
    expect(fs.readFileSync(project.path('mcps/docs/.mcp.json'), 'utf8')).not.toContain('hunter2');
    expect((await run(project, ['tools', 'docs', '--json'])).json.servers[0].tools).toMatchObject([
      { name: 'natural_language' },
    ]);
    expect((await run(project, ['unwrap', 'docs'])).code).toBe(0);
    expect(snapshot(project.path('mcps/docs'))).toEqual(before);
  });
});

describe('what is refused', () => {
  const echo = nodeServer('echo');
  test.each<[string, Record<string, object>, RegExp]>([
    ['a server that does not exist', {}, /No server named "one"/],
    [
      'the file of a host',
      { '.mcp.json': { mcpServers: { one: echo } } },
      /which other programs read as well/,
    ],
    [
      'a file with several servers',
      { 'mcps/x/.mcp.json': { mcpServers: { one: echo, two: echo } } },
      /defines 2 servers/,
    ],
    [
      'settings about tools that would not be shown any more',
      {
        [CONFIG]: { suites: { one: { hiddenTools: ['fail'] } } },
        'mcps/one/.mcp.json': { name: 'one', ...echo },
      },
      /suites\.one\.hiddenTools/,
    ],
    [
      'a part of this program',
      { [CONFIG]: { mcpServers: { one: { builtin: 'switchyard' } } } },
      /is built in/,
    ],
    [
      'a folder original',
      { 'mcps/one/.mcp.json': { name: 'one', ...echo }, 'mcps/one/original/x.json': {} },
      /original already exists/,
    ],
  ])('%s', async (_, files, message) => {
    const project = createProject(files);
    const before = snapshot(project.dir);
    const { code, stderr } = await run(project, ['wrap', 'one']);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
    fs.rmSync(project.path('.state'), { recursive: true, force: true });
    expect(snapshot(project.dir)).toEqual(before);
  });

  test('a second wrap with other settings', async () => {
    const project = createProject({ 'mcps/one/.mcp.json': { name: 'one', ...echo } });
    await run(project, ['wrap', 'one']);
    expect((await run(project, ['wrap', 'one'])).stdout).toContain('is already wrapped');
    const second = await run(project, ['wrap', 'one', '--model', 'host']);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain('Edit the arguments in');
  });
});

describe('an entry of the configuration', () => {
  const TEXT = `{
  "mcpServers": {
    // Echoes.
    "one": { "command": "node", "args": [${JSON.stringify(serverPath('echo'))}] }, // the first
  },
}
`;

  test('gets "language", and loses it again', async () => {
    const project = createProject({ [CONFIG]: TEXT, 'told.md': 'Echo everything.\n' });
    const { code, stdout } = await run(project, ['wrap', 'one']);
    expect({ code, file: project.read(CONFIG) }).toEqual({
      code: 0,
      file: TEXT.replace('"] }', '"], "language": true }'),
    });
    expect(stdout).toContain('It uses the model of the host');
    expect((await run(project, ['call', 'one', 'echo', 'text=x'])).stderr).toContain(
      'Use natural language: switchboard call one natural_language query="…"',
    );
    expect((await run(project, ['wrap', 'one', '--model', 'm', '--instructions', 'told.md'])).code).toBe(0);
    expect(project.read(CONFIG)).toContain('"language": { "model": "m", "instructionsFile": "told.md" }');
    expect((await run(project, ['tools', 'one', '--json'])).json.servers[0].name).toBe('one');
    expect((await run(project, ['unwrap', 'one'])).code).toBe(0);
    expect(project.read(CONFIG)).toBe(TEXT);
    expect((await run(project, ['unwrap', 'one'])).stdout).toContain('is not wrapped');
  });

  test('is only shown with --dry-run', async () => {
    const project = createProject({ [CONFIG]: TEXT });
    expect((await run(project, ['wrap', 'one', '--dry-run'])).stdout).toContain('"language": true');
    expect(project.read(CONFIG)).toBe(TEXT);
  });
});
