/**
 * The small stdio MCP server under every program in this folder. Left alone it behaves well: it answers
 * initialize, ping, tools/list and tools/call, runs calls side by side, stays silent about cancelled calls and
 * exits when its stdin ends. Each program adds its own vice through the options and through `ctx`.
 *
 * Every program understands these, as `--name=value` or as the environment variable TEST_SERVER_NAME:
 *   --tools=a,b      list and run only these tools
 *   --name=text      serverInfo.name
 *   --instructions=text   what it says in initialize to the model
 *   --journal=file   append one JSON line per event: start, message, unreadable (a line that is no JSON), stdin-end, exit
 *                    (counts spawns across restarts)
 */
import { appendFileSync } from 'node:fs';

export const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** What `run` returns when it has written its answer itself, or never will. */
export const NO_ANSWER = Symbol('no answer');

/** Thrown by a tool or method: becomes a JSON-RPC error. Any other throw becomes an `isError` result. */
export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A tool result with one text; anything but a string is given as JSON. */
export function text(value) {
  return { content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] };
}

/** The value of `--name=value`, `--name` (as "true") or TEST_SERVER_NAME. */
export function setting(name, fallback) {
  for (const arg of process.argv.slice(2)) {
    if (arg === `--${name}`) return 'true';
    if (arg.startsWith(`--${name}=`)) return arg.slice(name.length + 3);
  }
  return process.env[`TEST_SERVER_${name.toUpperCase().replaceAll('-', '_')}`] ?? fallback;
}

export const flag = (name) => !['false', '0'].includes(setting(name, 'false'));

export const numberSetting = (name, fallback) => Number(setting(name, fallback));

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves on the next turn of the event loop, so that what was written before is really on its way. */
export const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** An input schema from `{ text: 'string', ms: 'number' }`. */
export function takes(properties, required = []) {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([key, type]) => [key, { type }])),
    required,
  };
}

/**
 * Outlives everything polite: SIGTERM, SIGINT, SIGHUP, a closed stdin and broken pipes. So that a failed test leaves
 * nothing behind for good, it still ends by itself after `--lifetime-ms` (default two minutes).
 */
export function beStubborn() {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    process.on(signal, () => note({ event: 'ignored', signal }));
  }
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  setTimeout(() => process.exit(0), numberSetting('lifetime-ms', 120_000));
}

/**
 * @param options.name            serverInfo.name
 * @param options.version         serverInfo.version
 * @param options.tools           { name: { description, inputSchema, run(args, ctx), …other listed fields } }
 * @param options.capabilities    as announced
 * @param options.initializeResult  merged over the standard initialize result; undefined values drop a key
 * @param options.methods         { method: (params, ctx, standard) => result }, before the standard ones
 * @param options.onNotification  (message) => void, after the standard handling; `message.json` is its text
 * @param options.framing         'newline' (default) or 'content-length': how requests are read and answers written
 * @param options.send            (jsonText, write) => void: how one message is put on the wire
 * @param options.write           (bytes) => void: the raw output, default process.stdout
 * @param options.input           where requests come from, default process.stdin
 * @param options.onEnd           at the end of stdin, default exit 0
 * @param options.onFrameError    (reason) => void: a header block that cannot be understood (content-length only)
 */
export function serve({
  name,
  version = '1.0.0',
  tools = {},
  capabilities = { tools: { listChanged: true } },
  initializeResult = {},
  methods = {},
  onNotification = () => {},
  framing = 'newline',
  write = (bytes) => void process.stdout.write(bytes),
  send,
  input = process.stdin,
  onEnd = exitWhenWritten,
  onFrameError = () => {},
}) {
  const only = setting('tools');
  if (only !== undefined) {
    tools = Object.fromEntries(Object.entries(tools).filter(([tool]) => only.split(',').includes(tool)));
  }
  const running = new Map(); // id of the client's request → AbortController
  const asked = new Map(); // id of our own request → resolve
  let asking = 0;

  const server = {
    tools,
    running,
    /** What the client said in initialize. */
    client: undefined,
    /** Method names in the order they arrived; answers to our own requests are not listed. */
    received: [],
    /** `params` of every notifications/cancelled, with `known`: whether that request was running. */
    cancellations: [],
    write,
    send: (message) => sendText(JSON.stringify(message)),
    sendText: (json) => sendText(json),
    notify: (method, params) => server.send({ jsonrpc: '2.0', method, params }),
    /** Asks the client; resolves with its whole response, whose text is its hidden member `json`. */
    request: (method, params, id = `ask-${++asking}`) => {
      const response = server.responseTo(id);
      server.send({ jsonrpc: '2.0', id, method, params });
      return response;
    },
    /** The same for a request that the program writes itself. */
    responseTo: (id) => new Promise((resolve) => asked.set(id, resolve)),
  };
  const sendText =
    send === undefined
      ? (json) => write(framing === 'newline' ? `${json}\n` : header(json) + json)
      : (json) => send(json, write);

  const standard = {
    initialize: (params) => {
      server.client = params;
      return {
        protocolVersion: VERSIONS.includes(params?.protocolVersion)
          ? params.protocolVersion
          : VERSIONS.at(-1),
        capabilities,
        serverInfo: { name: setting('name', name), version },
        instructions: setting('instructions'),
        ...initializeResult,
      };
    },
    ping: () => ({}),
    'tools/list': () => ({
      tools: Object.entries(tools).map(([tool, listed]) => ({
        name: tool,
        inputSchema: { type: 'object' },
        ...listed,
        run: undefined,
      })),
    }),
    'tools/call': async (params, ctx) => {
      const tool = Object.hasOwn(tools, params?.name) ? tools[params.name] : undefined;
      if (tool === undefined) throw new RpcError(-32602, `Unknown tool: ${params?.name}`);
      const result = await tool.run(params.arguments ?? {}, ctx);
      return typeof result === 'string' ? text(result) : result;
    },
  };

  async function answer({ id, method, params }, json) {
    const controller = new AbortController();
    running.set(id, controller);
    const progressToken = params?._meta?.progressToken;
    const ctx = {
      id,
      params,
      /** The request as it was written. */
      json,
      server,
      progressToken,
      /** Aborted by notifications/cancelled for this request. */
      signal: controller.signal,
      progressMessage: (fields, token = progressToken) => ({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: token, ...fields },
      }),
      /** Does nothing when the client gave no token. */
      progress: (fields) => {
        if (progressToken !== undefined) server.send(ctx.progressMessage(fields));
      },
      answer: (result) => server.send({ jsonrpc: '2.0', id, result }),
      /** The JSON text of a response to this request around a ready-made JSON result. */
      responseText: (result) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`,
    };
    try {
      const own = methods[method];
      const known = standard[method];
      if (own === undefined && known === undefined) throw new RpcError(-32601, `Method not found: ${method}`);
      const result = await (own === undefined ? known(params, ctx) : own(params, ctx, known));
      if (result !== NO_ANSWER && !controller.signal.aborted) ctx.answer(result);
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof RpcError) {
        const { code, message, data } = error;
        server.send({ jsonrpc: '2.0', id, error: { code, message, data } });
      } else {
        ctx.answer({ ...text(String(error?.message ?? error)), isError: true });
      }
    } finally {
      running.delete(id);
    }
  }

  function receive(json) {
    let message;
    try {
      message = JSON.parse(json);
    } catch {
      note({ event: 'unreadable' });
      return server.send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
    }
    if (message === null || typeof message !== 'object' || Array.isArray(message)) {
      return server.send({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid request' } });
    }
    // The text is there for those who look, and in nobody's way when the message is written or compared.
    Object.defineProperty(message, 'json', { value: json });
    if (message.method === undefined) {
      const resolve = asked.get(message.id);
      asked.delete(message.id);
      return resolve?.(message);
    }
    if (server.received.length < 10_000) server.received.push(message.method);
    note({ event: 'message', method: message.method, id: message.id });
    if (message.id !== undefined) return void answer(message, json);
    if (message.method === 'notifications/cancelled') {
      const controller = running.get(message.params?.requestId);
      server.cancellations.push({ ...message.params, known: controller !== undefined });
      controller?.abort(message.params?.reason);
    }
    onNotification(message);
  }

  note({ event: 'start', argv: process.argv.slice(2), cwd: process.cwd() });
  process.on('exit', (code) => note({ event: 'exit', code }));
  // A stubborn server has its own listener already, and stays.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => process.exit(0));
  input.on('data', framing === 'newline' ? lineReader(receive) : frameReader(receive, onFrameError));
  input.on('end', () => {
    note({ event: 'stdin-end' });
    onEnd();
  });
  input.on('error', () => onEnd());
  return server;
}

/** A pipe takes only so much at once: what was said before the end is still delivered. */
function exitWhenWritten() {
  if (process.stdout.writableLength === 0) process.exit(0);
  else process.stdout.write('', () => process.exit(0));
}

function header(json) {
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n`;
}

function lineReader(receive) {
  let parts = [];
  return (chunk) => {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString();
      parts = [];
      rest = rest.subarray(end + 1);
      if (line.trim() !== '') receive(line);
    }
    if (rest.length > 0) parts.push(rest);
  };
}

function frameReader(receive, onFrameError) {
  let buffer = Buffer.alloc(0);
  let length = -1;
  return (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      if (length < 0) {
        const end = buffer.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = buffer.subarray(0, end).toString();
        buffer = buffer.subarray(end + 4);
        if (!/^[\w-]+: ?[^\r\n]*(\r\n[\w-]+: ?[^\r\n]*)*$/.test(head))
          onFrameError(`not a header block: ${head}`);
        const match = /Content-Length:\s*(\d+)/i.exec(head);
        if (match === null) {
          onFrameError(`no Content-Length: ${head}`);
          continue;
        }
        length = Number(match[1]);
      }
      if (buffer.length < length) return;
      const body = buffer.subarray(0, length).toString();
      buffer = buffer.subarray(length);
      length = -1;
      receive(body);
    }
  };
}

function note(event) {
  const file = setting('journal');
  if (file === undefined) return;
  try {
    appendFileSync(file, `${JSON.stringify({ pid: process.pid, at: Date.now(), ...event })}\n`);
  } catch {
    // The test's folder is gone: nobody reads the journal any more.
  }
}
