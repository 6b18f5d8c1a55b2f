/**
 * Nothing wrong: a server on the official SDK of the second generation, of the older era, the modern one or both.
 *
 *   node test/servers/sdk-v2.mjs [--era=both|legacy|modern] [--http] [--journal=file] [--name=sdk-v2]
 *
 * --era       legacy greets with `initialize` only, modern refuses that (`legacy: 'reject'`)
 * --http      Streamable HTTP on 127.0.0.1, at any free port; prints its address on one line and ends with its stdin
 * --journal   appends one JSON line for what cannot be asked for: {event: 'waiting' | 'aborted', tag}
 *
 * Tools; those that ask do so as their era does, by a request of their own or by an answer that requires input:
 *   ask {kinds, rounds}   each of form, url, model, roots at once, that many times; gives back the answers as JSON text,
 *                   an object for each round: {"form": {…}} or {"form": {"error": code}}
 *   impatient {tag, withdraw}   asks a form and does not wait for the answer: once `release {tag}` is called it is done, and
 *                   takes the question back before that, where it is told to; of the older era only
 *   report {tag}    progress 1 and 2, then waits for `release {tag}`, then progress 3 and the answer
 *   wait {tag}      never answers, and writes in the journal when it is cancelled
 *   log {text}      the text as `info` and as `debug`
 *   grow {name}     one more tool, prompt and resource of that name
 *   touch {uri}     tells that the resource has changed: `mem://sdk-v2/one` and `mem://sdk-v2/two`, after the server's name
 *   about           the era and version, and what the client can do
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import {
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  InMemoryServerEventBus,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const setting = (name, other) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? other;
const era = setting('era', 'both');
const name = setting('name', 'sdk-v2');
const journal = setting('journal');

// What all connections share: over HTTP, the modern era has a server for every request.
const grown = [];
const releases = new Map();
const bus = new InMemoryServerEventBus();
/** Servers that keep a connection, and so tell of changes themselves. */
const connected = new Set();

const note = (event, tag) => {
  if (journal !== undefined) appendFileSync(journal, `${JSON.stringify({ event, tag })}\n`);
};
const takes = (properties) => fromJsonSchema({ type: 'object', properties });
const STRING = { type: 'string' };
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

/** Every kind of question: what is asked, and how the older era asks it. */
const QUESTIONS = {
  form: {
    params: {
      mode: 'form',
      message: `${name} asks: which colour?`,
      requestedSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    },
    asInput: (params) => inputRequired.elicit(params),
    push: (ctx, params, options) => ctx.mcpReq.elicitInput(params, options),
  },
  url: {
    params: { mode: 'url', message: `${name} asks: open this?`, url: 'https://example.org/open' },
    asInput: ({ message, url }) => inputRequired.elicitUrl({ message, url }),
    push: (ctx, params) => ctx.mcpReq.elicitInput({ ...params, elicitationId: `${name}-1` }),
  },
  model: {
    params: {
      messages: [{ role: 'user', content: { type: 'text', text: `${name} asks: well?` } }],
      maxTokens: 16,
    },
    asInput: (params) => inputRequired.createMessage(params),
    push: (ctx, params) => ctx.mcpReq.requestSampling(params),
  },
  roots: {
    params: undefined,
    asInput: () => inputRequired.listRoots(),
    push: (ctx) => ctx.mcpReq.send({ method: 'roots/list' }),
  },
};

/** The older era: each question is a request of ours. */
async function askNow({ kinds, rounds = 1 }, ctx) {
  const all = [];
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(
      kinds.map(async (kind) => {
        const { push, params } = QUESTIONS[kind];
        try {
          return [kind, await push(ctx, params)];
        } catch (error) {
          return [kind, { error: error.code ?? String(error) }];
        }
      }),
    );
    all.push(Object.fromEntries(answers));
  }
  return text(all);
}

/** The modern era: the answer is the question, until the client has come back with all of them. */
function askByAnswer({ kinds, rounds = 1 }, ctx) {
  const state = ctx.mcpReq.requestState();
  const all = state === undefined ? [] : JSON.parse(state);
  const given = ctx.mcpReq.inputResponses;
  if (given !== undefined && kinds.every((kind) => kind in given)) all.push(given);
  if (all.length >= rounds) return text(all);
  return inputRequired({
    inputRequests: Object.fromEntries(
      kinds.map((kind) => [kind, QUESTIONS[kind].asInput(QUESTIONS[kind].params)]),
    ),
    requestState: JSON.stringify(all),
  });
}

/** Tells everybody who wants to know, each as its era and its wire have it. */
function tell(kind, uri) {
  bus.publish(uri === undefined ? { kind } : { kind, uri });
  for (const { server } of connected) {
    const told = {
      tools_list_changed: () => server.sendToolListChanged(),
      prompts_list_changed: () => server.sendPromptListChanged(),
      resources_list_changed: () => server.sendResourceListChanged(),
      resource_updated: () => server.sendResourceUpdated({ uri }),
    };
    void told[kind]().catch(() => undefined);
  }
}

function register(server, served) {
  const tool = (title, properties, run) =>
    server.registerTool(title, { description: `The tool ${title}.`, inputSchema: takes(properties) }, run);
  const ask = served === 'modern' ? askByAnswer : askNow;
  tool('ask', { kinds: { type: 'array', items: STRING }, rounds: { type: 'integer' } }, ask);
  tool('report', { tag: STRING }, async ({ tag }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    const report = (progress) =>
      ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 3, message: `step ${progress}` },
      });
    await report(1);
    await report(2);
    await new Promise((resolve) => releases.set(tag, resolve));
    await report(3);
    return text('reported');
  });
  if (served === 'legacy')
    tool('impatient', { tag: STRING, withdraw: { type: 'boolean' } }, async ({ tag, withdraw }, ctx) => {
      const { push, params } = QUESTIONS.form;
      const taken = new AbortController();
      const answer = push(ctx, params, { signal: taken.signal }).catch(() => undefined);
      await new Promise((resolve) => releases.set(tag, resolve));
      if (withdraw) {
        taken.abort('no longer needed');
        await answer;
      }
      return text('done without it');
    });
  tool('release', { tag: STRING }, ({ tag }) => {
    releases.get(tag)?.();
    return text(releases.delete(tag) ? 'released' : 'nobody waits');
  });
  tool('wait', { tag: STRING }, async ({ tag }, ctx) => {
    const { signal } = ctx.mcpReq;
    note('waiting', tag);
    await new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', resolve);
    });
    note('aborted', tag);
    return text('aborted');
  });
  tool('log', { text: STRING }, async (args, ctx) => {
    await ctx.mcpReq.log('debug', args.text, name);
    await ctx.mcpReq.log('info', args.text, name);
    return text('logged');
  });
  tool('grow', { name: STRING }, (args) => {
    grown.push(args.name);
    // A server that is connected tells by itself that it has one more.
    for (const each of connected) addGrown(each, args.name);
    for (const kind of ['tools_list_changed', 'prompts_list_changed', 'resources_list_changed'])
      bus.publish({ kind });
    return text('grown');
  });
  tool('touch', { uri: STRING }, ({ uri }) => {
    tell('resource_updated', uri);
    return text('touched');
  });
  tool('about', {}, (_args, ctx) =>
    text({
      era: served,
      version: server.server.getNegotiatedProtocolVersion(),
      capabilities:
        ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ??
        server.server.getClientCapabilities(),
      client: (
        ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientInfo'] ?? server.server.getClientVersion()
      )?.name,
    }),
  );
  for (const title of ['one', 'two']) addResource(server, title);
  server.registerPrompt('greet', { description: 'Greets.' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
  }));
  for (const each of grown) addGrown(server, each);
}

function addResource(server, title) {
  const uri = `mem://${name}/${title}`;
  server.registerResource(title, uri, { description: 'A text.' }, () => ({
    contents: [{ uri, text: `text of ${uri}` }],
  }));
}

function addGrown(server, title) {
  server.registerTool(title, { description: 'Has grown.', inputSchema: takes({}) }, () => text(title));
  server.registerPrompt(title, { description: 'Has grown.' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: title } }],
  }));
  addResource(server, title);
}

/** @param served the era that this one will speak */
function create(served, keptConnected) {
  const server = new McpServer(
    { name, version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
      },
      instructions: `This is ${name}.`,
    },
  );
  register(server, served);
  if (served === 'legacy') {
    // Everybody hears of everything here: whoever relays it has to sort it.
    for (const method of ['resources/subscribe', 'resources/unsubscribe'])
      server.server.setRequestHandler(method, () => ({}));
  }
  if (keptConnected) {
    connected.add(server);
    server.server.onclose = () => connected.delete(server);
  }
  return server;
}

if (!process.argv.includes('--http')) {
  if (era === 'legacy') void create('legacy', true).connect(new StdioServerTransport());
  else serveStdio((ctx) => create(ctx.era, true), { legacy: era === 'modern' ? 'reject' : 'serve' });
} else {
  await serveHttp();
}

async function serveHttp() {
  const modern = createMcpHandler(() => create('modern', false), { legacy: 'reject', bus });
  const sessions = new Map();
  /** The older era keeps a session for each client. */
  const legacy = async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known !== undefined) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await create('legacy', true).connect(transport);
    return transport.handleRequest(request);
  };
  const route = async (request) => {
    if (era === 'modern') return modern.fetch(request);
    if (era === 'legacy' || (await isLegacyRequest(request))) return legacy(request);
    return modern.fetch(request);
  };
  const http = createServer((incoming, outgoing) => void answer(incoming, outgoing, route));
  http.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`);
  });
  process.stdin.on('end', () => process.exit(0)).resume();
}

/** Between the streams of Node and those of the web, which the SDK takes. */
async function answer(incoming, outgoing, route) {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const hasBody = incoming.method === 'POST';
  const request = new globalThis.Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method,
    headers: Object.entries(incoming.headers).map(([key, value]) => [key, String(value)]),
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  });
  try {
    const response = await route(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (response.body === null) {
      outgoing.end();
      return;
    }
    const reader = response.body.getReader();
    gone.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      outgoing.write(value);
    }
    outgoing.end();
  } catch (error) {
    if (!outgoing.headersSent) outgoing.writeHead(500);
    outgoing.end(String(error));
  }
}
