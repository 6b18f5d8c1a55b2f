/**
 * Speaks only MCP 2026-07-28, written by hand, over stdio or over HTTP.
 *
 *   node test/servers/modern.mjs [--initialize=unsupported|unknown|silent|accept] [--discover=ok|unknown|silent|exit]
 *                                [--slow-start=ms] [--idle-start=ms] [--mute] [--eras=file] [--journal=file]
 *   node test/servers/modern.mjs --http [...]   prints its address on one line, and ends with its stdin
 *   import { listen } from './modern.mjs'   the same over HTTP, in the process of whoever calls it
 *
 * --initialize   what an `initialize` gets: the error −32022 (default), −32601, nothing, or a proper answer, as from a
 *                server of both eras
 * --discover     the same for `server/discover`; `exit` ends the process
 * --slow-start   is busy and reads nothing for so long
 * --idle-start   the same, only waiting
 * --mute         does not confirm that it will tell of changes, and does not
 * --eras         a file that is read at the start and says `legacy`, `modern` or `both`, and maybe the version of the
 *                server after a blank, so that the next life differs
 * --journal      appends one JSON line for each message it gets
 *
 * Tools: params (its own params as text), ask {method, inputs, rounds, message, url} (asks for input that many times, then
 * says what it got), again {times} (asks for nothing but to be called again), wait {report} (never answers), log {level},
 * report {count} (progress), task, demand (sends a request, which it must not), grow (one more tool), touch {uri} (tells
 * of a change), hang_up (ends the streams that listen), located {region} (HTTP: wants it in Mcp-Param-Region), move
 * (HTTP: wants Mcp-Param-Zone from now on), cancelled (which calls were cancelled), misplaced (HTTP, with
 * badHeader: a header that cannot be). Resources: mem://one, mem://two. Prompt: greet.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { pathToFileURL } from 'node:url';

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';

/** The server itself; `options` are the settings above, in camel case. */
function createModern(options) {
  const [eras, version] = options.eras ? readFileSync(options.eras, 'utf8').trim().split(' ') : [];
  const initialize =
    eras === undefined ? (options.initialize ?? 'unsupported') : eras === 'modern' ? 'unsupported' : 'accept';
  const discover = eras === 'legacy' ? 'unknown' : (options.discover ?? 'ok');
  const streams = new Map();
  const running = new Map();
  const cancelled = [];
  let grown = 0;
  let header = 'Region';

  const toolNames = () => [
    ...['params', 'ask', 'again', 'wait', 'log', 'report', 'task', 'demand', 'grow', 'touch', 'hang_up'],
    ...['located', 'move', 'cancelled'],
    ...(options.badHeader ? ['misplaced'] : []),
    ...Array.from({ length: grown }, (_, at) => `grown_${at + 1}`),
  ];
  const toolOf = (name) => ({
    name,
    description: `The tool ${name}.`,
    inputSchema: {
      type: 'object',
      properties:
        name === 'located'
          ? {
              region: { type: 'string', 'x-mcp-header': header },
              deep: { type: 'object', properties: { size: { type: 'integer', 'x-mcp-header': 'Size' } } },
            }
          : name === 'misplaced'
            ? { list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } } }
            : {},
    },
  });
  const complete = (result) => ({
    resultType: 'complete',
    ...result,
    _meta: { [`${META}serverInfo`]: { name: 'modern', version: '1.0.0' } },
  });
  const text = (value) =>
    complete({
      content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
    });
  const kept = (result) => complete({ ...result, ttlMs: 1000, cacheScope: 'public' });
  const tell = (kind, method, params, uri) => {
    for (const [id, stream] of streams) {
      if (uri === undefined ? stream.filter[kind] !== true : !(stream.filter[kind] ?? []).includes(uri))
        continue;
      stream.send({
        jsonrpc: '2.0',
        method,
        params: { ...params, _meta: { [`${META}subscriptionId`]: id } },
      });
    }
  };

  const inputs = {
    'elicitation/create': (at, message = 'Which', url = undefined) => ({
      method: 'elicitation/create',
      params: {
        message: `${message} ${at}?`,
        ...(url === undefined
          ? { mode: 'form', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
          : { mode: 'url', url }),
      },
    }),
    'sampling/createMessage': (at) => ({
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: { type: 'text', text: `Say ${at}` } }], maxTokens: 10 },
    }),
    'roots/list': () => ({ method: 'roots/list' }),
  };
  const ask = (params) => {
    const {
      method = 'elicitation/create',
      inputs: count = 1,
      rounds = 1,
      message,
      url,
      state = true,
    } = params.arguments;
    const seen = params.requestState === undefined ? [] : JSON.parse(params.requestState);
    if (params.inputResponses !== undefined) seen.push(params.inputResponses);
    if (seen.length >= rounds) return text(seen);
    const methods = Array.isArray(method) ? method : Array.from({ length: count }, () => method);
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(
        methods.map((each, at) => [
          `in put "${at + 1}"`,
          inputs[each]?.(at + 1, message, url) ?? { method: each },
        ]),
      ),
      ...(state ? { requestState: JSON.stringify(seen) } : {}),
    };
  };

  const tools = {
    params: (params) => text(params),
    ask,
    again: (params) => {
      const done = Number(params.requestState ?? 0);
      if (done >= (params.arguments.times ?? 1)) return text(`called ${done + 1} times`);
      return { resultType: 'input_required', requestState: String(done + 1) };
    },
    wait: (params, { send }) => {
      if (params.arguments?.report) report(send, params, 1);
      return undefined;
    },
    log: (params, { send }) => {
      if (params._meta[`${META}logLevel`] !== undefined)
        send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'logged' } });
      return text(params._meta[`${META}logLevel`] ?? 'no level');
    },
    report: (params, { send }) => {
      for (let at = 1; at <= (params.arguments.count ?? 1); at++) report(send, params, at);
      return text('reported');
    },
    task: () => ({
      resultType: 'task',
      taskId: 't-1',
      status: 'working',
      ttlMs: 1000,
      createdAt: 'now',
      lastUpdatedAt: 'now',
    }),
    demand: (_params, { send, id }) => {
      running.set(`demand-${id}`, { send, id, demand: true });
      send({ jsonrpc: '2.0', id: `demand-${id}`, method: 'roots/list' });
      if (options.http) return text('not answered');
      return undefined;
    },
    grow: () => {
      grown++;
      tell('toolsListChanged', 'notifications/tools/list_changed');
      return text('grown');
    },
    touch: ({ arguments: { uri } }) => {
      tell('resourceSubscriptions', 'notifications/resources/updated', { uri }, uri);
      return text('touched');
    },
    hang_up: ({ arguments: { how = 'answer' } = {} }) => {
      for (const [id, stream] of [...streams]) {
        streams.delete(id);
        if (how === 'answer') stream.send({ jsonrpc: '2.0', id, result: complete({}) });
        else if (how === 'cancel')
          stream.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        else stream.cut?.();
      }
      return text('hung up');
    },
    located: (params) => text(params.arguments ?? {}),
    move: () => {
      header = 'Zone';
      return text('moved');
    },
    cancelled: () => text(cancelled),
    misplaced: () => text('never'),
  };
  function report(send, params, progress) {
    const progressToken = params._meta.progressToken;
    if (progressToken !== undefined)
      send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } });
  }

  const methods = {
    'server/discover': () =>
      kept({
        supportedVersions: initialize === 'accept' ? [VERSION, '2025-11-25'] : [VERSION],
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          prompts: {},
          logging: {},
          ...(options.extensions ? { extensions: options.extensions } : {}),
        },
        instructions: 'Be modern.',
      }),
    'tools/list': () => kept({ tools: toolNames().map(toolOf) }),
    'tools/call': (params, context) => {
      const tool =
        tools[params.name] ?? (params.name.startsWith('grown_') ? () => text(params.name) : undefined);
      if (tool === undefined)
        throw Object.assign(new Error(`Unknown tool: ${params.name}`), { code: -32602 });
      return tool(params, context);
    },
    'resources/list': () =>
      kept({ resources: ['mem://one', 'mem://two'].map((uri) => ({ uri, name: uri })) }),
    'resources/templates/list': () => kept({ resourceTemplates: [] }),
    'resources/read': ({ uri }) => {
      if (!uri.startsWith('mem://'))
        throw Object.assign(new Error('Resource not found'), { code: -32602, data: { uri } });
      return kept({ contents: [{ uri, text: `text of ${uri}` }] });
    },
    'prompts/list': () => kept({ prompts: [{ name: 'greet' }] }),
    'prompts/get': () => complete({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] }),
    'tasks/get': ({ taskId }) => complete({ taskId, status: 'completed', result: {} }),
    'subscriptions/listen': (params, { send, id, cut }) => {
      if (options.mute) return undefined;
      streams.set(id, { filter: params.notifications, send, cut });
      send({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: params.notifications, _meta: { [`${META}subscriptionId`]: id } },
      });
      return undefined;
    },
  };

  const greet = (id, params) => {
    if (initialize === 'silent') return undefined;
    if (initialize === 'accept')
      return {
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'older', version: version ?? '1' },
        },
      };
    if (initialize === 'unknown') return { error: { code: -32601, message: 'Method not found: initialize' } };
    const data = { supported: [VERSION], requested: params?.protocolVersion };
    return {
      error: { code: -32022, message: `Unsupported protocol version; this server speaks ${VERSION}`, data },
    };
  };
  let legacy = false;

  return {
    options,
    headerName: () => header,
    streams,
    /** Answers one message, now, later or never. `context.send` writes a message to where this one came from. */
    take(message, context) {
      const { id, method, params } = message;
      if (options.journal) appendFileSync(options.journal, `${JSON.stringify(message)}\n`);
      if (method === 'notifications/cancelled') {
        cancelled.push(params.requestId);
        streams.delete(params.requestId);
        return;
      }
      const asked = running.get(id);
      if (method === undefined && asked?.demand) {
        asked.send({ jsonrpc: '2.0', id: asked.id, result: text(message.error ?? message.result) });
        return;
      }
      if (id === undefined || method === undefined) return;
      const answer = (body) => context.send({ jsonrpc: '2.0', id, ...body });
      if (method === 'initialize') {
        legacy = initialize === 'accept';
        const body = greet(id, params);
        if (body) answer(body);
        return;
      }
      if (method === 'server/discover' && discover !== 'ok') {
        if (discover === 'exit') process.exit(1);
        if (discover === 'unknown') answer({ error: { code: -32601, message: 'Method not found' } });
        return;
      }
      const meta = params?._meta;
      const modern = meta?.[`${META}protocolVersion`] !== undefined;
      if (!modern && !legacy) {
        answer({ error: { code: -32602, message: 'Invalid params: _meta lacks the protocol version' } });
        return;
      }
      if (modern && meta[`${META}protocolVersion`] !== VERSION) {
        answer({
          error: { code: -32022, message: 'Unsupported protocol version', data: { supported: [VERSION] } },
        });
        return;
      }
      if (modern && meta[`${META}clientCapabilities`] === undefined) {
        answer({ error: { code: -32602, message: 'Invalid params: _meta lacks the client capabilities' } });
        return;
      }
      const run = methods[method];
      if (run === undefined) {
        answer({ error: { code: -32601, message: `Method not found: ${method}` } });
        return;
      }
      try {
        const result = run(params ?? {}, { ...context, id });
        if (result !== undefined) answer({ result });
      } catch (error) {
        answer({ error: { code: error.code ?? -32603, message: error.message, data: error.data } });
      }
    },
    gone(id) {
      cancelled.push(id);
      streams.delete(id);
    },
  };
}

/** What the headers of a request get wrong; undefined where they fit its body. */
function mismatch(headers, message, server) {
  const decoded = (value) =>
    value?.startsWith('=?base64?') && value.endsWith('?=')
      ? Buffer.from(value.slice(9, -2), 'base64').toString()
      : value;
  const { method, params } = message;
  if (headers['mcp-protocol-version'] !== params?._meta?.[`${META}protocolVersion`])
    return 'MCP-Protocol-Version';
  if (headers['mcp-method'] !== method) return 'Mcp-Method';
  const named = {
    'tools/call': 'name',
    'prompts/get': 'name',
    'resources/read': 'uri',
    'tasks/get': 'taskId',
  }[method];
  if (named !== undefined && decoded(headers['mcp-name']) !== params[named]) return 'Mcp-Name';
  if (method === 'tools/call' && params.name === 'located') {
    const { region, deep } = params.arguments ?? {};
    if (decoded(headers[`mcp-param-${server.headerName().toLowerCase()}`]) !== region) return 'Mcp-Param';
    if (headers['mcp-param-size'] !== (deep?.size === undefined ? undefined : String(deep.size)))
      return 'Mcp-Param-Size';
  }
  return undefined;
}

/** Serves over HTTP at a port of the system's choice. `seen` has every request, with its headers and its message. */
export async function listen(options = {}) {
  const server = createModern({ ...options, http: true });
  const seen = [];
  const site = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const message = body === '' ? undefined : JSON.parse(body);
      seen.push({ method: request.method, headers: request.headers, message });
      if (options.silent?.(message)) return;
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      const legacyGreeting = message.method === 'initialize';
      const wrong =
        legacyGreeting || options.initialize === 'accept'
          ? undefined
          : mismatch(request.headers, message, server);
      if (wrong !== undefined) {
        const error = { code: -32020, message: `Header mismatch: ${wrong}` };
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
        return;
      }
      let streaming = false;
      let over = false;
      const send = (said) => {
        if (over) return;
        if (said.id !== undefined && said.method === undefined && !streaming) {
          over = true;
          const status =
            said.error === undefined
              ? 200
              : said.error.code === -32601
                ? 404
                : said.error.code === -32603
                  ? 200
                  : 400;
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
          return;
        }
        if (!streaming) response.writeHead(200, { 'content-type': 'text/event-stream' });
        streaming = true;
        response.write(`id: 7\ndata: ${JSON.stringify(said)}\n\n`);
        if (said.id !== undefined && said.method === undefined) {
          over = true;
          response.end();
        }
      };
      response.on('close', () => {
        if (!over) server.gone(message.id);
      });
      const cut = () => response.destroy();
      if (message.id === undefined) response.writeHead(202).end();
      server.take(message, { send, cut });
    });
  });
  const open = (port) => new Promise((resolve) => site.listen(port, '127.0.0.1', resolve));
  await open(0);
  const { port } = site.address();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    streams: server.streams,
    again: () => open(port),
    close: () =>
      new Promise((resolve) => {
        site.close(() => resolve());
        site.closeAllConnections();
      }),
  };
}

/** The settings on the command line, in camel case. */
function settings() {
  const given = process.argv.slice(2).map((arg) => /^--([^=]+)(?:=(.*))?$/s.exec(arg));
  return Object.fromEntries(
    given.map(([, name, value]) => [
      name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()),
      value ?? true,
    ]),
  );
}

async function overStdio(options) {
  const server = createModern(options);
  const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  let rest = '';
  const until = performance.now() + Number(options.slowStart ?? 0);
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, Number(options.idleStart ?? 0)));
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== '') server.take(JSON.parse(line), { send });
  });
  process.stdin.on('end', () => process.exit(0));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = settings();
  if (options.http) {
    process.stdout.write(`${(await listen(options)).url}\n`);
    process.stdin.on('end', () => process.exit(0)).resume();
  } else await overStdio(options);
}
