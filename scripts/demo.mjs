/**
 * `npm run demo`: the gateway over four real servers, used by a real client, step by step.
 *
 * Builds when needed, makes a project in a temporary folder, shows list, introspect and call, counts the tokens with a
 * real tokenizer, and removes everything again.
 */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PROGRAM = join(ROOT, 'dist/index.js');
const colours = (process.stdout.isTTY || process.env.FORCE_COLOR) && !process.env.NO_COLOR;
const paint = (on, off) => (text) => (colours ? `\x1b[${on}m${text}\x1b[${off}m` : text);
const bold = paint(1, 22);
const dim = paint(2, 22);
const green = paint(32, 39);
const cyan = paint(36, 39);

const project = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-demo-')));
const open = new Set();
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.once(signal, () => cleanUp().finally(() => process.exit(code)));
}

try {
  buildIfNeeded();
  await demo(makeProject());
} finally {
  await cleanUp();
}

async function demo(servers) {
  say(bold('\nSwitchboard in four steps\n'));
  say(
    `A project with ${Object.keys(servers).length} MCP servers: ${Object.keys(servers).map(cyan).join(', ')}.`,
  );

  step(1, 'Without Switchboard, the model gets every tool and the instructions of every server');
  const flat = await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      const client = await connect(server);
      const { tools } = await client.listTools();
      const instructions = client.getInstructions();
      await disconnect(client);
      return { name, tools: tools.length, tokens: tokensOf(tools, instructions) };
    }),
  );
  for (const { name, tools, tokens } of flat) row(name, `${count(tools)} tools`, `${count(tokens)} tokens`);
  const flatTools = flat.reduce((sum, each) => sum + each.tools, 0);
  const flatTokens = flat.reduce((sum, each) => sum + each.tokens, 0);
  row(bold('total'), `${count(flatTools)} tools`, bold(`${count(flatTokens)} tokens`));

  step(2, 'With Switchboard, it gets one tool per server and one line of instructions');
  const since = performance.now();
  const host = await connect({
    command: process.execPath,
    args: [PROGRAM, '--allow-project', '--log-level', 'error'],
    cwd: project,
  });
  const { tools: suites } = await host.listTools();
  const ms = Math.round(performance.now() - since);
  for (const suite of suites) say(`  ${green(suite.name.padEnd(17))} ${suite.description}`);
  const suiteTokens = tokensOf(suites, host.getInstructions());
  say(`  ${green('instructions'.padEnd(17))} ${host.getInstructions()}`);
  row(bold('total'), `${count(suites.length)} tools`, bold(`${count(suiteTokens)} tokens`));
  say(dim(`  The gateway responded ${ms} ms after it was started. No server is running yet.`));

  step(3, 'The model opens a suite when it needs one');
  const opened = await ask(host, 'filesystem_suite', { action: 'introspect' });
  const subtools = opened.structuredContent.tools;
  for (const { name, input } of subtools.slice(0, 4)) say(`  ${green(name)} ${dim(cut(input, 80))}`);
  say(
    dim(
      `  … and ${subtools.length - 4} more; ${count(encode(opened.content[0].text).length)} tokens, once, in this conversation only.`,
    ),
  );

  step(4, 'It calls the tools of any server');
  const note = join(project, 'files', 'note.txt');
  const called = [
    ['filesystem_suite', 'write_file', { path: note, content: 'Switchboard was here.' }],
    ['filesystem_suite', 'read_text_file', { path: note }],
    [
      'memory_suite',
      'create_entities',
      { entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }] },
    ],
    ['memory_suite', 'search_nodes', { query: 'program' }],
    ['everything_suite', 'get-sum', { a: 19, b: 23 }],
    ['mock_suite', 'click', { selector: '#save' }],
  ];
  for (const [suite, subtool, args] of called) {
    const result = await ask(host, suite, { action: 'call', subtool, args });
    say(dim(`     → ${cut(result.content[0].text.replace(/\s+/g, ' '), 96)}`));
  }
  await disconnect(host);

  const saved = Math.floor((1 - suiteTokens / flatTokens) * 1000) / 10;
  say(bold('\nTokens saved in every conversation\n'));
  bar('flat', flatTokens, flatTokens);
  bar('suites', suiteTokens, flatTokens);
  say(
    `\n  ${green(bold(`${saved}% fewer tokens`))} for the same ${flatTools} tools ${dim('(o200k tokenizer; name, description and input schema of each tool, and instructions)')}\n`,
  );
  say(dim('In your own project: npx -y mcp-switchboard --dry-run\n'));
}

/** The example server of this repository and three official ones, which write only inside the project. */
function makeProject() {
  cpSync(join(ROOT, 'examples/mock-child'), join(project, 'mcps/mock'), { recursive: true });
  const files = join(project, 'files');
  cpSync(join(ROOT, 'examples/mock-child/README.md'), join(files, 'README.md'));
  const env = { MEMORY_FILE_PATH: join(project, 'memory.jsonl') };
  const mcpServers = {
    everything: { ...official('everything'), description: 'trying out every feature of MCP' },
    filesystem: {
      ...official('filesystem', files),
      description: 'reading and writing the files of this project',
    },
    memory: { ...official('memory'), env, description: 'remembering people, things and how they relate' },
  };
  writeFileSync(join(project, 'switchboard.config.json'), JSON.stringify({ mcpServers }, undefined, 2));
  const mock = { command: process.execPath, args: [join(project, 'mcps/mock/index.mjs')] };
  return { ...mcpServers, mock };
}

function official(name, ...args) {
  const manifest = createRequire(import.meta.url).resolve(
    `@modelcontextprotocol/server-${name}/package.json`,
  );
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  return { command: process.execPath, args: [join(dirname(manifest), bin[`mcp-server-${name}`]), ...args] };
}

async function connect({ command, args, env = {}, cwd = project }) {
  // The user's own servers are not part of the demo.
  const own = { XDG_CONFIG_HOME: join(project, '.config'), APPDATA: join(project, '.config') };
  const client = new Client({ name: 'switchboard-demo', version: '1.0.0' });
  open.add(client);
  // The servers' messages on stderr are of no interest here.
  await client.connect(
    new StdioClientTransport({
      command,
      args,
      cwd,
      env: { ...process.env, ...own, ...env },
      stderr: 'ignore',
    }),
  );
  return client;
}

async function disconnect(client) {
  open.delete(client);
  await client.close();
}

async function ask(host, suite, args) {
  say(`  ${cyan(suite)} ${JSON.stringify(args).replaceAll(`${project}/`, '')}`);
  const result = await host.callTool({ name: suite, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result;
}

/** The tokens a model reads in every conversation: each tool, and the instructions. */
function tokensOf(tools, instructions = '') {
  const texts = tools.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, inputSchema }),
  );
  return encode(texts.join('\n')).length + encode(instructions).length;
}

function buildIfNeeded() {
  const built = statSync(PROGRAM, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const changed = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true }).some(
    (entry) =>
      entry.isFile() &&
      !entry.name.endsWith('.test.ts') &&
      statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs > built,
  );
  if (!changed) return;
  say(dim('Building …'));
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs')], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('The build failed.');
}

async function cleanUp() {
  await Promise.all([...open].map(disconnect));
  rmSync(project, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

function step(number, title) {
  say(`\n${bold(`${number}. ${title}`)}\n`);
}

function row(name, ...facts) {
  const padded = name.padEnd(17 + name.length - visible(name).length);
  say(`  ${padded} ${facts.map((fact) => fact.padStart(13 + fact.length - visible(fact).length)).join('')}`);
}

function bar(name, tokens, most) {
  const blocks = '█'.repeat(Math.max(1, Math.round((tokens / most) * 50)));
  say(`  ${name.padEnd(7)} ${cyan(blocks)} ${count(tokens)}`);
}

function count(number) {
  return number.toLocaleString('en-US');
}

function cut(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function visible(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\x1b\[\d+m/g, '');
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
