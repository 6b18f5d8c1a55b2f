import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { STATE } from './lib/project.mjs';

const MEMORY = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/dist/index.js');

/** What the user says, and the calls it takes for someone who knows the tools. */
const STORY = [
  {
    says: 'Remember that my favourite editor is vim.',
    tool: 'create_entities',
    args: {
      entities: [{ name: 'user', entityType: 'person', observations: ['favourite editor is vim'] }],
    },
  },
  { says: 'What do I like?', tool: 'read_graph', args: {} },
];

/**
 * What a conversation with two requests costs the host's model, in tokens, with the real memory server exposed in three
 * ways; and what the wrapper costs the small model behind it. The small model is a script that takes the shortest way:
 * one call for each request, then the answer. Everything that it and the host receive is real.
 */
export async function measureLanguage({ entry }) {
  const model = await startModel();
  try {
    const flat = await tell(entry, { exposure: 'flat' }, ({ tool, args }) => ({
      name: `memory__${tool}`,
      arguments: args,
    }));
    const suite = await tell(
      entry,
      {},
      ({ tool, args }) => ({ name: 'memory_suite', arguments: { action: 'call', subtool: tool, args } }),
      [{ name: 'memory_suite', arguments: { action: 'introspect' } }],
    );
    const language = { provider: 'anthropic', model: 'script', baseUrl: model.url, apiKey: 'none' };
    const wrapper = await tell(entry, { language }, ({ says }) => ({
      name: 'memory_suite',
      arguments: { action: 'call', subtool: 'natural_language', args: { query: says } },
    }));
    return { requests: STORY.length, flat, suite, wrapper, small: model.tokens };
  } finally {
    model.close();
  }
}

/** Has the conversation; counts what the host's model reads and writes for it. */
async function tell(entry, look, callOf, before = []) {
  const cwd = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  const env = { MEMORY_FILE_PATH: join(cwd, 'memory.jsonl') };
  const memory = { command: process.execPath, args: [MEMORY], env, ...look };
  writeFileSync(join(cwd, 'switchboard.config.json'), JSON.stringify({ mcpServers: { memory } }));
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const transport = { command: process.execPath, args: [entry, '--allow-project'], cwd, stderr: 'ignore' };
  await client.connect(
    new StdioClientTransport({ ...transport, env: { ...process.env, SWITCHBOARD_STATE_DIR: STATE } }),
  );
  try {
    const listed = await client.listTools();
    const tokens = { definitions: 0, learning: 0, requests: 0 };
    for (const { name, description, inputSchema } of listed.tools)
      tokens.definitions += count({ name, description, inputSchema });
    tokens.definitions += count(client.getInstructions() ?? '');
    const ask = async (params, kind) => {
      const { content, isError } = await client.callTool(params);
      const text = content.map((block) => block.text).join('\n');
      if (isError === true) throw new Error(`${params.name} failed: ${text}`);
      tokens[kind] += count(params) + count(text);
      return text;
    };
    for (const call of before) await ask(call, 'learning');
    let last = '';
    for (const step of STORY) last = await ask(callOf(step), 'requests');
    if (!last.includes('vim')) throw new Error(`The server has forgotten: ${last}`);
    return { ...tokens, all: tokens.definitions + tokens.learning + tokens.requests };
  } finally {
    await client.close();
    rmSync(cwd, { recursive: true, force: true });
  }
}

function count(value) {
  return encode(typeof value === 'string' ? value : JSON.stringify(value)).length;
}

/** A model with the Messages API that knows this story. It counts what it receives and sends. */
async function startModel() {
  const tokens = { turns: 0, read: 0, written: 0 };
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { system, tools, messages } = JSON.parse(Buffer.concat(chunks).toString());
      const block = blockFor(messages);
      tokens.turns++;
      tokens.read += count(system) + count(tools) + count(messages);
      tokens.written += count(block);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of eventsOf(block))
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, tokens, close: () => server.close() };
}

function blockFor(messages) {
  const parts = [messages.at(-1).content].flat();
  const result = parts.find(({ type }) => type === 'tool_result');
  if (result === undefined) {
    const said = JSON.stringify(parts);
    const { tool, args } = STORY.find(({ says }) => said.includes(says));
    return { type: 'tool_use', id: 'toolu_1', name: tool, input: args };
  }
  const facts = /favourite editor is \w+/.exec(JSON.stringify(result))?.[0] ?? 'nothing yet';
  return { type: 'text', text: `I know of you: ${facts}.` };
}

function* eventsOf(block) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'script', content: [], usage };
  yield { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } };
  const isCall = block.type === 'tool_use';
  yield {
    type: 'content_block_start',
    index: 0,
    content_block: isCall ? { ...block, input: {} } : { type: 'text', text: '' },
  };
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    : { type: 'text_delta', text: block.text };
  yield { type: 'content_block_delta', index: 0, delta };
  yield { type: 'content_block_stop', index: 0 };
  yield {
    type: 'message_delta',
    delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage,
  };
  yield { type: 'message_stop' };
}
