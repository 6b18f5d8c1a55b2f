import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { definitions, official } from './lib/official-servers.mjs';
import { writeTaskData } from './lib/task-data.mjs';
import { taskList } from './lib/task-list.mjs';

const THINKING_MS = 500;
const TRACKER = fileURLToPath(new URL('./tracker.mjs', import.meta.url));

/** How each exposure is used: what to request before the first call, and how to call a tool. */
const EXPOSURES = {
  flat: {
    discover: () => [],
    call: (server, tool, args) => ({ name: `${server}__${tool}`, arguments: args }),
  },
  suite: {
    discover: ({ tools }) =>
      serversOf(tools).map((server) => ({ name: `${server}_suite`, arguments: { action: 'introspect' } })),
    call: (server, subtool, args) => ({
      name: `${server}_suite`,
      arguments: { action: 'call', subtool, args },
    }),
  },
  search: {
    discover: ({ needs }) => needs.map((query) => ({ name: 'find_tool', arguments: { query } })),
    call: (server, tool, args) => ({ name: 'call_tool', arguments: { tool: `${server}.${tool}`, args } }),
  },
  code: {
    discover: ({ needs }) => needs.map((query) => ({ name: 'find_tool', arguments: { query } })),
  },
};

/**
 * Performs the same tasks with four servers through each exposure, and counts what a model reads and writes. The agents
 * are scripted: they make no mistakes, and do in parallel what they can.
 */
export async function measureTasks({ entry }) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-tasks-')));
  const data = {
    files: join(dir, 'files'),
    issues: join(dir, 'issues.json'),
    graph: join(dir, 'graph.jsonl'),
  };
  const tasks = taskList(data.files);
  const rows = tasks.map(({ name }) => ({ name, by: {} }));
  const start = {};
  let tools = 0;
  try {
    for (const [exposure, how] of Object.entries(EXPOSURES)) {
      writeTaskData(data);
      const client = await connect(entry, dir, data, exposure);
      try {
        const listed = (await client.listTools()).tools;
        if (exposure === 'flat') tools = listed.length;
        start[exposure] = count(definitions(listed)) + count(client.getInstructions() ?? '');
        await warmUp(client, how, tasks);
        for (const [at, task] of tasks.entries()) {
          writeTaskData(data);
          const conversation = new Conversation(client, start[exposure]);
          const answer = await have(conversation, task, how);
          rows[at].answer ??= answer;
          if (!isDeepStrictEqual(answer, rows[at].answer))
            throw new Error(
              `${task.name}, ${exposure}: ${JSON.stringify(answer)} instead of ${JSON.stringify(rows[at].answer)}`,
            );
          rows[at].by[exposure] = conversation.finish();
        }
      } finally {
        await client.close();
      }
    }
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
  return { servers: 4, tools, start, rows, all: totals(rows) };
}

async function have(conversation, task, how) {
  const found = await conversation.turn(how.discover(task));
  if (how !== EXPOSURES.flat && how !== EXPOSURES.suite) {
    const all = found.join('\n').replaceAll('get-sum', 'get_sum');
    for (const tool of task.tools)
      if (!all.includes(tool)) throw new Error(`${task.name}: find_tool did not find ${tool}:\n${all}`);
  }
  if (how.call !== undefined) {
    const turn = (...calls) => conversation.turn(calls.map((call) => how.call(...call)));
    return task.steps({ turn });
  }
  let answer;
  for (const code of task.scripts)
    [answer] = await conversation.turn([{ name: 'run_code', arguments: { code } }]);
  return JSON.parse(jsonIn(answer));
}

/** A string is returned unchanged. */
function jsonIn(text) {
  return /^[[{"\d]/.test(text) ? text : JSON.stringify(text);
}

/** What a model reads and writes in one conversation, in tokens. */
class Conversation {
  #client;
  /** The tokens in its context now. */
  #context;
  /** The sum of the context over all turns, because it is sent each time. */
  #read = 0;
  #written = 0;
  #turns = 0;
  #ms = 0;

  constructor(client, start) {
    this.#client = client;
    this.#context = start;
  }

  /** The model makes calls in one turn, and reads their results. */
  async turn(calls) {
    if (calls.length === 0) return [];
    this.#turns++;
    this.#read += this.#context;
    // A model takes at least this long to write its next message.
    await sleep(THINKING_MS);
    const since = performance.now();
    const results = await Promise.all(calls.map((call) => this.#client.callTool(call)));
    this.#ms += performance.now() - since;
    const texts = results.map(({ content, isError }, at) => {
      const text = content.map((block) => block.text ?? '').join('\n');
      if (isError === true) throw new Error(`${JSON.stringify(calls[at])} failed: ${text}`);
      return text;
    });
    const written = sum(calls.map((call) => count(JSON.stringify(call))));
    this.#written += written;
    this.#context += written + sum(texts.map(count));
    return texts;
  }

  /** Includes the turn with the answer to the user. */
  finish() {
    return {
      turns: this.#turns + 1,
      once: this.#context,
      resent: this.#read + this.#context,
      written: this.#written,
      ms: Math.round(this.#ms),
    };
  }
}

async function connect(entry, dir, { files, issues, graph }, exposure) {
  const config = join(dir, `${exposure}.json`);
  const mcpServers = {
    files: official('filesystem', files),
    memory: { ...official('memory'), env: { MEMORY_FILE_PATH: graph } },
    everything: official('everything'),
    tracker: { command: process.execPath, args: [TRACKER, issues] },
  };
  writeFileSync(config, JSON.stringify({ exposure, mcpServers }));
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const env = { ...process.env, SWITCHBOARD_STATE_DIR: join(dir, '.state') };
  const args = [entry, '--config', config];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: dir, env, stderr: 'ignore' }),
  );
  return client;
}

/** Servers start with their first use, and the interpreter is loaded with the first script; neither is measured. */
async function warmUp(client, how, tasks) {
  const [first] = tasks;
  const all = { needs: [''], tools: FIRST_CALLS.map(([server]) => `${server}.`) };
  for (const call of how.discover({ ...all, needs: first.needs })) await client.callTool(call);
  if (how.call === undefined) await client.callTool({ name: 'run_code', arguments: { code: FIRST_SCRIPT } });
  else for (const call of FIRST_CALLS) await client.callTool(how.call(...call));
}

/** One call to each server. */
const FIRST_CALLS = [
  ['files', 'list_allowed_directories', {}],
  ['memory', 'read_graph', {}],
  ['everything', 'echo', { message: '' }],
  ['tracker', 'list_issues', {}],
];
const FIRST_SCRIPT = FIRST_CALLS.map(
  ([server, tool, args]) => `await ${server}.${tool}(${JSON.stringify(args)});`,
).join('\n');

function totals(rows) {
  return Object.fromEntries(
    Object.keys(EXPOSURES).map((exposure) => [
      exposure,
      Object.fromEntries(
        ['turns', 'once', 'resent', 'written', 'ms'].map((key) => [
          key,
          sum(rows.map(({ by }) => by[exposure][key])),
        ]),
      ),
    ]),
  );
}

function serversOf(tools) {
  return [...new Set(tools.map((tool) => tool.slice(0, tool.indexOf('.'))))];
}

function count(text) {
  return encode(text).length;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
