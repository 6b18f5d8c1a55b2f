import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sha256 } from '../shared/sha256.ts';
import { createProject, nodeServer } from '../../test/helpers/temp-project.ts';
import { until } from '../../test/helpers/until.ts';
import { startAnthropicServer } from '../../test/models/anthropic-server.ts';
import type { Script } from '../../test/models/script.ts';
import { createApp, type App } from '../app/index.ts';
import { loadConfig } from '../config/index.ts';
import { createLogger } from '../shared/log.ts';

type Json = any;

const KEY = 'sk-scripted-key';

interface World {
  readonly app: App;
  readonly lines: readonly string[];
  /** Connects another client over stdio streams, which has not sent anything yet. */
  readonly connect: (answers?: Answers) => Peer;
}

/** A client's responses to requests, by method: results or errors. */
type Answers = Readonly<Record<string, (params: Json) => object | Promise<object>>>;

/** A gateway in this process with one real server `s`. */
async function world(server: object, { config = {}, env = {} } = {}): Promise<World> {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { s: server }, ...config } });
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', program: 'test', write: (line) => lines.push(line) });
  const given = { PATH: process.env.PATH, SWITCHBOARD_STATE_DIR: project.path('.state'), ...env };
  const read = await loadConfig({ cwd: project.dir, env: given });
  const app = createApp({ config: read, log, stderr: () => undefined, env: given });
  onTestFinished(() => app.close());
  return {
    app,
    lines,
    connect: (answers = {}) => new Peer(app, answers),
  };
}

/** The same with a scripted model. */
async function modelWorld(script: Script, server: object, more: { config?: object; env?: object } = {}) {
  const model = await startAnthropicServer(script);
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url, ...more.env };
  return { model, ...(await world({ language: true, ...server }, { ...more, env })) };
}

/** The other end of the streams, in plain JSON. */
class Peer {
  readonly heard: Json[] = [];
  readonly #input = new PassThrough();
  readonly #answers: Answers;
  readonly #waiting = new Map<number, (message: Json) => void>();
  #lastId = 0;

  constructor(app: App, answers: Answers) {
    const output = new PassThrough();
    this.#answers = answers;
    app.openStdio(this.#input, output);
    createInterface({ input: output }).on('line', (line) => void this.#hear(JSON.parse(line)));
  }

  async greet(capabilities: object = {}): Promise<void> {
    const clientInfo = { name: 'test', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    this.send({ method: 'notifications/initialized' });
  }

  send(message: object): void {
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  begin(method: string, params: object = {}): { id: number; answer: Promise<Json> } {
    const id = ++this.#lastId;
    const answer = new Promise<Json>((resolve) => this.#waiting.set(id, resolve));
    this.send({ id, method, params });
    return { id, answer };
  }

  request(method: string, params: object = {}): Promise<Json> {
    return this.begin(method, params).answer;
  }

  /** Calls the suite's tool and returns the result. */
  async say(query: string, more: object = {}): Promise<Json> {
    const { result, error } = await this.request('tools/call', plainly(query, more));
    return result ?? error;
  }

  progress(): string[] {
    return this.heard
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => params.message);
  }

  async #hear(message: Json): Promise<void> {
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.(message);
      return;
    }
    this.heard.push(message);
    const answer = this.#answers[message.method];
    if (message.id !== undefined && answer) this.send({ id: message.id, ...(await answer(message.params)) });
  }
}

function plainly(query: string, more: object = {}): object {
  return {
    name: 's_suite',
    arguments: { action: 'call', subtool: 'natural_language', args: { query } },
    ...more,
  };
}

const calls = (...names: (string | [string, object])[]) => ({
  calls: names.map((each) => (typeof each === 'string' ? { name: each } : { name: each[0], input: each[1] })),
});

function stateOf(app: App): string {
  return app.states()[0]!.state.kind;
}

/** The tool results that the model received. */
function resultsIn(body: Json): string {
  return JSON.stringify(body.messages.at(-1).content);
}

describe('a server with a language model before it', () => {
  test.each([
    ['suite', 's_suite'],
    ['flat', 's__natural_language'],
  ])('shown %s has one tool, and is not started for it', async (exposure, name) => {
    const { app, connect } = await world({ ...nodeServer('echo'), language: true, exposure });
    const client = connect();
    await client.greet();
    const { tools } = (await client.request('tools/list')).result;
    expect(tools.map((tool: Json) => tool.name)).toEqual([name]);
    expect(JSON.stringify(tools)).toContain('natural_language');
    expect(stateOf(app)).toBe('idle');
  });

  test('is introduced at once to a modern client, though it never ran', async () => {
    const { app, connect } = await world({ ...nodeServer('echo'), language: true, exposure: 'flat' });
    // A server about which nothing is known is waited for.
    expect(app.source('s').about()).toMatchObject({ capabilities: { tools: {}, resources: {} } });
    const { result } = await connect().request('server/discover', { _meta: envelope({}) });
    expect(result.supportedVersions).toContain('2026-07-28');
    expect(stateOf(app)).toBe('idle');
  });

  test('passes a request to the model, its calls to the server and the answer back, with progress', async () => {
    const { model, connect, lines } = await modelWorld([calls(['add', { a: 2, b: 3 }]), 'It is five.'], {
      ...nodeServer('echo'),
      language: { instructions: 'You calculate.' },
    });
    const client = connect();
    await client.greet();
    const result = await client.say('what is two and three, secretly?', { _meta: { progressToken: 'p' } });
    expect(result.content).toEqual([{ type: 'text', text: 'It is five.' }]);
    expect(result.isError).toBeUndefined();
    expect(result.structuredContent).toMatchObject({
      answer: 'It is five.',
      calls: [{ tool: 'add', arguments: { a: 2, b: 3 }, outcome: 'ok' }],
      steps: 2,
      provider: 'anthropic',
    });
    const [first, second] = model.requests.map(({ body }) => body);
    expect(JSON.stringify(first.system)).toContain('You calculate.');
    expect(JSON.stringify(first.messages)).toContain('what is two and three');
    expect(resultsIn(second)).toContain('5');
    expect(client.progress()).toEqual(
      expect.arrayContaining(['Starting s', expect.stringContaining('Running add')]),
    );
    const { params } = client.heard.find(({ method }) => method === 'notifications/progress');
    expect(params.progressToken).toBe('p');
    expect(lines.join('')).not.toMatch(/secretly|sk-scripted/);
  });

  test('gives what its schema promises', async () => {
    const { connect } = await modelWorld([calls(['echo', { text: 'x' }]), 'Done.'], {
      ...nodeServer('echo'),
      exposure: 'flat',
    });
    const client = connect();
    await client.greet();
    const [tool] = (await client.request('tools/list')).result.tools;
    const { result } = await client.request('tools/call', { name: tool.name, arguments: { query: 'say x' } });
    const validate = new Ajv2020({ strict: false }).compile(tool.outputSchema);
    expect(validate(result.structuredContent), JSON.stringify(validate.errors)).toBe(true);
  });

  test('lets the model see and call what the configuration allows, as it shapes it', async () => {
    const { model, connect } = await modelWorld([calls(['sum', { a: 40 }], 'pid'), 'Done.'], {
      ...nodeServer('echo'),
      exposedTools: ['add', 'echo'],
      hiddenTools: ['echo'],
      tools: { add: { name: 'sum', description: 'Adds two to it.', presets: { b: 2 } } },
    });
    const client = connect();
    await client.greet();
    const result = await client.say('forty and two');
    const { body } = model.requests[0]!;
    expect(body.tools.map(({ name, description }: Json) => [name, description])).toEqual([
      ['sum', 'Adds two to it.'],
    ]);
    expect(Object.keys(body.tools[0].input_schema.properties)).toEqual(['a']);
    expect(resultsIn(model.requests[1]!.body)).toContain('42');
    expect(result.structuredContent.calls.map(({ outcome }: Json) => outcome)).toEqual([
      'ok',
      'unknown tool',
    ]);
  });

  test('shows the model tools that come while it works', async () => {
    const script: Script = async ({ body }, turn) => {
      if (turn === 0) return calls(['grow', { name: 'grown' }]);
      if (JSON.stringify(body.messages).includes('I am grown')) return 'Grown.';
      if (body.tools.some(({ name }: Json) => name === 'grown')) return calls('grown');
      // This model responds faster than lists are requested.
      await sleep(100);
      return calls('pid');
    };
    const { connect } = await modelWorld(script, nodeServer('changing'));
    const client = connect();
    await client.greet();
    expect((await client.say('grow, and use it')).content[0].text).toBe('Grown.');
  });

  test('passes on what the server asks while its tool runs, and what is answered', async () => {
    const { model, connect } = await modelWorld(
      [calls(['ask_form', { tag: 'a' }], ['ask_roots', { tag: 'b' }]), 'Asked.'],
      nodeServer('asking'),
    );
    const client = connect({
      'elicitation/create': () => ({ result: { action: 'accept', content: { answer: 'blue' } } }),
      'roots/list': () => ({ result: { roots: [{ uri: 'file:///here' }] } }),
    });
    const other = connect();
    await client.greet({ elicitation: {}, roots: {} });
    await other.greet({ elicitation: {} });
    expect((await client.say('ask me')).content[0].text).toBe('Asked.');
    expect(resultsIn(model.requests[1]!.body)).toMatch(/blue.*file:\/\/\/here/);
    expect(other.heard.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
  });

  test('does not count the time that a person takes to answer the server', async () => {
    const { connect } = await modelWorld([calls(['ask_form', { tag: 'a' }]), 'Asked.'], {
      ...nodeServer('asking'),
      language: { timeoutMs: 2500 },
    });
    const client = connect({
      'elicitation/create': async () => {
        // As long as the whole request may take, and a little longer.
        await sleep(3000);
        return { result: { action: 'accept', content: { answer: 'blue' } } };
      },
    });
    await client.greet({ elicitation: {} });
    expect((await client.say('ask me')).content[0].text).toBe('Asked.');
  });

  test('does the same for a modern client, which comes back with the answer', async () => {
    const { model, connect } = await modelWorld(
      [calls(['ask_form', { tag: 'a' }]), 'Asked.'],
      nodeServer('asking'),
    );
    const client = connect();
    const _meta = envelope({ elicitation: { form: {} } });
    const { result } = await client.request('tools/call', plainly('ask me', { _meta }));
    expect(result.resultType).toBe('input_required');
    const [key] = Object.keys(result.inputRequests);
    const inputResponses = { [key!]: { action: 'accept', content: { answer: 'green' } } };
    const { requestState } = result;
    const back = plainly('ask me', { _meta, inputResponses, requestState });
    const answer = await client.request('tools/call', back);
    expect(answer.result.content[0].text).toBe('Asked.');
    expect(resultsIn(model.requests[1]!.body)).toContain('green');
  });

  test('passes on the progress of its tools as its own', async () => {
    const { connect } = await modelWorld(
      [calls(['steps', { n: 3, ms: 120 }]), 'Done.'],
      nodeServer('progress'),
    );
    const client = connect();
    await client.greet();
    await client.say('go', { _meta: { progressToken: 7 } });
    expect(client.progress()).toEqual(expect.arrayContaining([expect.stringMatching(/^steps: step \d/)]));
    const numbers = client.heard.map(({ params }) => params?.progress).filter((each) => each !== undefined);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  });

  test('passes on what the server logs meanwhile, to the client that it works for', async () => {
    const { connect } = await modelWorld([calls(['log', { tag: 'x' }]), 'Logged.'], nodeServer('asking'));
    const [client, other] = [connect(), connect()];
    await client.greet();
    await other.greet();
    await client.say('log it');
    const logged = (peer: Peer): unknown[] =>
      peer.heard.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.data);
    expect([logged(client), logged(other)]).toEqual([['asking:x'], []]);
  });

  test('passes on what a modern server needs to know, reports and logs', async () => {
    const { model, connect } = await modelWorld(
      [calls(['ask', {}], ['report', { count: 2 }], 'log'), 'Done.'],
      nodeServer('modern'),
    );
    const client = connect({
      'elicitation/create': () => ({ result: { action: 'accept', content: { answer: 'teal' } } }),
    });
    await client.greet({ elicitation: {} });
    await client.request('logging/setLevel', { level: 'info' });
    await client.say('ask me', { _meta: { progressToken: 1 } });
    expect(resultsIn(model.requests[1]!.body)).toContain('teal');
    expect(client.progress()).toEqual(expect.arrayContaining([expect.stringMatching(/^report: /)]));
    expect(client.heard.map(({ method }) => method)).toContain('notifications/message');
  });

  test('offers resources and prompts as they are, and reads what its answer links to', async () => {
    const { connect } = await modelWorld(
      [calls(['link', { uri: 'x://hidden' }]), 'There.'],
      nodeServer('offering', '--resources=x://r', '--prompts=p'),
    );
    const client = connect();
    await client.greet();
    // Its server is not started for a list; once it is running, they are listed.
    const result = await client.say('link it');
    const names = async (method: string, kind: string): Promise<Json[]> =>
      (await client.request(method)).result[kind];
    await until(async () => (await names('resources/list', 'resources')).length > 0);
    await until(async () => (await names('prompts/list', 'prompts')).length > 0);
    const listed = await client.request('resources/list');
    expect(listed.result.resources.map(({ uri }: Json) => uri)).toEqual(['x://r']);
    const prompt = await client.request('prompts/list');
    expect(prompt.result.prompts).toHaveLength(1);
    expect(result.content[1]).toMatchObject({ type: 'resource_link', uri: 'x://hidden' });
    const read = await client.request('resources/read', { uri: 'x://hidden' });
    expect(JSON.stringify(read.result)).toContain('offering has x://hidden');
  });

  test('stops the model when the client cancels', async () => {
    const { model, connect } = await modelWorld([{ instead: 'hang' }], nodeServer('echo'));
    const client = connect();
    await client.greet();
    const { id } = client.begin('tools/call', plainly('wait'));
    const asked = await model.asked(0);
    client.send({ method: 'notifications/cancelled', params: { requestId: id } });
    await asked.over;
    expect(asked.gone).toBe(true);
  });

  test('stops the tool when the client cancels', async () => {
    const script: Script = (_request, turn) =>
      turn === 0 ? calls('hang') : turn === 1 ? calls('cancelled_count') : 'Counted.';
    const { model, connect } = await modelWorld(script, nodeServer('slow'));
    const client = connect();
    await client.greet();
    const { id } = client.begin('tools/call', plainly('hang', { _meta: { progressToken: 1 } }));
    await until(() => client.progress().some((message) => message.includes('hang')));
    client.send({ method: 'notifications/cancelled', params: { requestId: id } });
    await client.say('how many were cancelled?');
    expect(resultsIn(model.requests[2]!.body)).toContain('1');
  });

  test('tells the waiting client why it ends', async () => {
    const { app, model, connect } = await modelWorld([{ instead: 'hang' }], nodeServer('echo'));
    const client = connect();
    await client.greet();
    const waiting = client.say('wait');
    const asked = await model.asked(0);
    await app.source('s').close({ reason: 'It was removed.', drainMs: 20 });
    expect((await waiting).content[0].text).toMatch(/of server 's' was not finished: It was removed\./);
    await asked.over;
    expect(asked.gone).toBe(true);
    expect((await client.say('more')).content[0].text).toMatch(/was not run: It was removed\./);
  });

  test('may finish what it is about when it is replaced', async () => {
    let go: (said: string) => void = () => undefined;
    const said = new Promise<string>((resolve) => (go = resolve));
    const { app, model, connect } = await modelWorld(() => said, nodeServer('echo'));
    const client = connect();
    await client.greet();
    const waiting = client.say('wait');
    await model.asked(0);
    const closed = app.source('s').close({ reason: 'It was removed.', drainMs: 20_000 });
    go('Just in time.');
    expect((await waiting).content[0].text).toBe('Just in time.');
    await closed;
  });

  test('is not stopped for being idle while its model thinks', async () => {
    const pids: string[] = [];
    const script: Script = async ({ body }, turn) => {
      if (turn > 0) pids.push(resultsIn(body));
      if (turn === 1) await new Promise((resolve) => setTimeout(resolve, 400));
      return turn < 2 ? calls('pid') : 'Done.';
    };
    const entry = { ...nodeServer('echo'), timeouts: { idleMs: 60 } };
    const { app, connect } = await modelWorld(script, entry);
    const client = connect();
    await client.greet();
    expect((await client.say('the pid, twice')).content[0].text).toBe('Done.');
    const [first, second] = pids.map((text) => /"text\\?":\\?"(\d+)/.exec(text)?.[1] ?? text);
    expect(second).toBe(first);
    await until(() => stateOf(app) === 'idle', { what: 'it to be stopped afterwards' });
  });

  test.each<[string, object, RegExp]>([
    ['no words', {}, /query must be a string that says in natural language/],
    ['empty words', { query: ' ' }, /query must be a string that says in natural language/],
    ['a context that is no text', { query: 'x', context: 1 }, /context must be a string/],
  ])('is not asked with %s', async (_, args, message) => {
    const { app, connect } = await world({ ...nodeServer('echo'), language: true });
    const client = connect();
    await client.greet();
    const wrong = { ...plainly(''), arguments: { action: 'call', subtool: 'natural_language', args } };
    const { result } = await client.request('tools/call', wrong);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] });
    expect(stateOf(app)).toBe('idle');
  });

  test('has no other tool, and says which it has', async () => {
    const { app, connect } = await world(
      { ...nodeServer('echo'), language: true },
      { config: { tools: { both: { description: 'x', subtools: { s: { tools: [{ name: 'echo' }] } } } } } },
    );
    const client = connect();
    await client.greet();
    const called = { name: 's_suite', arguments: { action: 'call', subtool: 'echo', args: { text: 'x' } } };
    expect((await client.request('tools/call', called)).result.content[0].text).toMatch(/no subtool 'echo'/);
    await expect(app.callTool('s', 'echo', {})).rejects.toThrow(
      /has no tool 'echo': it takes natural-language requests/,
    );
  });

  test('says what is missing where there is neither a key nor a client with a model, and is not started', async () => {
    const { app, connect } = await world({ ...nodeServer('echo'), language: true });
    const client = connect();
    await client.greet({ sampling: {} });
    const result = await client.say('anything');
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toMatch(/no API key is set.*ANTHROPIC_API_KEY/);
    expect(stateOf(app)).toBe('idle');
  });

  test('says so where the model may use no tool at all', async () => {
    const { connect } = await modelWorld([], { ...nodeServer('echo'), exposedTools: [] });
    const client = connect();
    await client.greet();
    expect((await client.say('x')).content[0].text).toMatch(/exposes no tool to its model.*exposedTools/);
  });

  test('asks each client its own questions where several share it', async () => {
    const { app } = await modelWorld(
      ({ body }) => (body.messages.length > 1 ? resultsIn(body) : calls(['ask_form', { tag: 'x' }])),
      { ...nodeServer('asking'), isolation: 'shared' },
    );
    const token = 'a-token-of-sixteen-or-more';
    const tokens = {
      current: [{ principal: 'test', name: 'test', hash: Buffer.from(sha256(token), 'hex') }],
      refresh: () => undefined,
      watch: () => () => undefined,
    };
    const door = await app.openHttp({ host: '127.0.0.1', port: 0, tokens });
    onTestFinished(() => door.close());
    for (const colour of ['red', 'blue']) {
      const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, () => ({
        action: 'accept',
        content: { answer: colour },
      }));
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(door.url), { requestInit: { headers } }),
      );
      onTestFinished(() => client.close());
      const { content } = await client.callTool(plainly('ask') as { name: string });
      expect(JSON.stringify(content)).toContain(colour);
    }
    expect(app.states()).toHaveLength(1);
  });
});

describe("the client's own model", () => {
  /** Calls a tool, then reports its result. */
  const sampled = ({ messages, tools }: Json): object => {
    const results = messages.at(-1).content;
    const asked = tools?.map(({ name }: Json) => name) ?? [];
    if (messages.length === 1 && asked.includes('echo')) {
      const use = { type: 'tool_use', id: 'u1', name: 'echo', input: { text: 'vim' } };
      return { role: 'assistant', model: 'm', stopReason: 'toolUse', content: [use] };
    }
    const text = `The tool said ${JSON.stringify(results).includes('vim') ? 'vim' : 'nothing'}.`;
    return { role: 'assistant', model: 'm', stopReason: 'endTurn', content: { type: 'text', text } };
  };
  const capabilities = { sampling: { tools: {} } };

  test('answers where no key is set', async () => {
    const { connect } = await world({ ...nodeServer('echo'), language: true });
    const client = connect({ 'sampling/createMessage': (params) => ({ result: sampled(params) }) });
    await client.greet(capabilities);
    const result = await client.say('echo vim');
    expect(result.content[0].text).toBe('The tool said vim.');
    expect(result.structuredContent).toMatchObject({ provider: 'host', steps: 2 });
  });

  test('answers a modern client, turn by turn', async () => {
    const { connect } = await world({ ...nodeServer('echo'), language: { model: 'host' } });
    const client = connect();
    const _meta = envelope(capabilities);
    let { result } = await client.request('tools/call', plainly('echo vim', { _meta }));
    for (let turn = 0; result.resultType === 'input_required' && turn < 5; turn++) {
      const { inputRequests, requestState } = result;
      const inputResponses = Object.fromEntries(
        Object.entries<Json>(inputRequests).map(([key, { params }]) => [key, sampled(params)]),
      );
      const back = plainly('echo vim', { _meta, inputResponses, requestState });
      ({ result } = await client.request('tools/call', back));
    }
    expect(result.content[0].text).toBe('The tool said vim.');
  });

  test('may be refused by its person', async () => {
    const { connect } = await world({ ...nodeServer('echo'), language: { model: 'host' } });
    const client = connect({
      'sampling/createMessage': () => ({ error: { code: -1, message: 'User rejected sampling request' } }),
    });
    await client.greet(capabilities);
    const result = await client.say('echo vim');
    expect(result.isError).toBe(true);
    expect(result.content[0].text).not.toMatch(/INTERNAL|undefined/);
  });

  test('is not asked any more once the call is cancelled', async () => {
    const { connect } = await world({ ...nodeServer('echo'), language: { model: 'host' } });
    const client = connect();
    await client.greet(capabilities);
    const { id } = client.begin('tools/call', plainly('wait'));
    const asked = await until(() => client.heard.find(({ method }) => method === 'sampling/createMessage'));
    client.send({ method: 'notifications/cancelled', params: { requestId: id } });
    const withdrawn = await until(() =>
      client.heard.find(({ method }) => method === 'notifications/cancelled'),
    );
    expect(withdrawn.params.requestId).toBe(asked.id);
  });
});

function envelope(capabilities: object): object {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}
