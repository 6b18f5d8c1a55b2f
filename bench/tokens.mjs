import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { definitions, official } from './lib/official-servers.mjs';

const MOCK = fileURLToPath(new URL('../examples/mock-child', import.meta.url));

/** What happens in a conversation that uses one server, and in one that uses all of them. */
const ONE = [
  ['filesystem', 'write_file', { path: 'notes/plan.txt', content: 'Ship it on Friday.' }],
  ['filesystem', 'read_text_file', { path: 'notes/plan.txt' }],
];
const ALL = [
  ...ONE,
  [
    'memory',
    'create_entities',
    { entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }] },
  ],
  ['memory', 'search_nodes', { query: 'program' }],
  ['everything', 'get-sum', { a: 19, b: 23 }],
  ['mock', 'click', { selector: '#save' }],
];

/**
 * What a model reads and writes with four real servers, without a gateway and as suites, in tokens: at the beginning of
 * every conversation, after it has opened the one suite it needs, and for a whole workflow with calls and results.
 */
export async function measureTokens({ entry }) {
  const flat = await measured(async (servers, connect) => {
    const clients = {};
    for (const [name, server] of Object.entries(servers)) clients[name] = await connect(server);
    return {
      clients: Object.values(clients),
      call: ([server, tool, args]) => [clients[server], { name: tool, arguments: args }],
      introspect: undefined,
    };
  });
  const suite = await measured(async (servers, connect, cwd) => {
    const config = join(cwd, 'switchboard.config.json');
    writeFileSync(config, JSON.stringify({ mcpServers: servers }));
    const client = await connect({ command: process.execPath, args: [entry, '--config', config] });
    const suiteCall = (server, given) => [client, { name: `${server}_suite`, arguments: given }];
    return {
      clients: [client],
      call: ([server, subtool, args]) => suiteCall(server, { action: 'call', subtool, args }),
      introspect: (server) => suiteCall(server, { action: 'introspect' }),
    };
  });
  const saved = (key) => Math.floor((1 - suite[key] / flat[key]) * 1000) / 10;
  return {
    servers: 4,
    tools: flat.tools,
    rows: [
      ['start', 'every conversation starts with'],
      ['opened', 'after opening one suite'],
      ['one', 'a workflow with one server, 2 calls'],
      ['all', 'a workflow with all four, 6 calls'],
    ].map(([key, name]) => ({ key, name, flat: flat[key], suite: suite[key], savedPercent: saved(key) })),
  };
}

/** Has both conversations; `open` connects to the servers and returns how to call their tools. */
async function measured(open) {
  const cwd = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  const opened = [];
  const connect = async ({ command, args, env = {} }) => {
    const client = new Client({ name: 'bench', version: '1.0.0' });
    opened.push(client);
    const all = { ...process.env, SWITCHBOARD_STATE_DIR: join(cwd, '.state'), ...env };
    await client.connect(new StdioClientTransport({ command, args, cwd, env: all, stderr: 'ignore' }));
    return client;
  };
  try {
    const { clients, call, introspect } = await open(serversIn(cwd), connect, cwd);
    const lists = await Promise.all(
      clients.map(async (client) => ({
        ...(await client.listTools()),
        says: client.getInstructions() ?? '',
      })),
    );
    const start = sum(lists.map(({ tools, says }) => count(definitions(tools)) + count(says)));
    const opening = {};
    for (const server of introspect === undefined ? [] : new Set(ALL.map(([name]) => name)))
      opening[server] = await ask(introspect(server));
    const calls = [];
    for (const each of ALL) calls.push(await ask(call(each)));
    const one = start + (opening.filesystem ?? 0);
    return {
      tools: sum(lists.map(({ tools }) => tools.length)),
      start,
      opened: one,
      one: one + sum(calls.slice(0, ONE.length)),
      all: start + sum(Object.values(opening)) + sum(calls),
    };
  } finally {
    await Promise.all(opened.map((client) => client.close()));
    rmSync(cwd, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** What the model writes to call a tool, and what it reads of the result. */
async function ask([client, params]) {
  const { content, isError } = await client.callTool(params);
  const text = content.map((block) => block.text).join('\n');
  if (isError === true) throw new Error(`${params.name} failed: ${text}`);
  return count(JSON.stringify(params)) + count(text);
}

/** The example server of this repository and three official ones, which write only inside the project. */
function serversIn(cwd) {
  cpSync(MOCK, join(cwd, 'mock'), { recursive: true });
  cpSync(join(MOCK, 'README.md'), join(cwd, 'notes', 'README.md'));
  return {
    everything: official('everything'),
    filesystem: official('filesystem', cwd),
    memory: { ...official('memory'), env: { MEMORY_FILE_PATH: join(cwd, 'memory.jsonl') } },
    mock: { command: process.execPath, args: [join(cwd, 'mock', 'index.mjs')] },
  };
}

function count(text) {
  return encode(text).length;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
