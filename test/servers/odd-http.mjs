/**
 * A Streamable HTTP server, written by hand, that does as badly as it is asked to. In a test:
 * `const server = await startOddHttp({ … })`, with the options below; `server.settings` may be changed while it runs.
 *
 * Its tools are named by what they do wrong. Each counts that it was run, under its argument `tag`, before anything
 * else: `server.ran('tag')`. What they do when nothing is wrong with them: say `ran TAG`.
 *
 *   ok              nothing wrong. ok_events: the same as an event stream
 *   hang            never answers, not even with a status
 *   held            answers when `server.release()` is called
 *   cut_json        ends in the middle of a body with Content-Length; cut_chunked: of one in chunks
 *   cut_events      ends in the middle of an event; cut_before: before any byte of an answer
 *   end_events      ends its event stream well, without the answer in it
 *   drip            sends a body that never ends, a byte at a time
 *   silent          opens an event stream and says nothing on it
 *   html, text      an answer of that type, with 200. untyped: without any
 *   status          answers with {status, type, body}; $id and $authorization in it are those of the request
 *   huge, huge_chunked, huge_events   {bytes} in one answer
 *   babble          a body that is no JSON. empty: none, with 200. accepted: none, with 202
 *   two             two messages after one another in one body; batch: the same as a list
 *   wrong_id        the response to another request; wrong_id_events: the same as an event stream
 *   redirect        {status, to}
 *   bytes           gives {result} back as the text that it is, {how: json | events | spread}
 *   resumable       an event stream that breaks off, and goes on where it is asked for again by its last event
 *   bare            writes the bytes {raw} to the connection, and ends it
 *
 * At /sse it speaks the older transport, with tools of its own: ok and hang as above, refused (its POST gets {status}),
 * babble (an event that is no message, and then the answer), huge {bytes}, cut (the stream ends within an event).
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const DEFAULTS = {
  port: 0,
  /** What the GET stream does: 'none' (405), 'open', or 'flap' (ends at once, again and again). */
  listening: 'none',
  /** Whether sessions are given. */
  sessions: true,
  /** Called with each request before anything is done about it; what it gives true for, it has answered itself. */
  before: undefined,
  /** As `endpoint` of the older transport, at /sse; undefined: its own. */
  endpoint: undefined,
};

export async function startOddHttp(options = {}) {
  const settings = { ...DEFAULTS, ...options };
  const requests = [];
  const runs = new Map();
  const cancelled = [];
  const sessions = new Set();
  const streams = new Set();
  /** Answers that wait to be asked for, by the last event before them. */
  const resumable = new Map();
  let held = [];
  /** The stream of the older transport. */
  let older;
  let server;
  let port = settings.port;

  const forgotten = (request, response) => {
    const session = request.headers['mcp-session-id'];
    if (!settings.sessions || sessions.has(session)) return false;
    response.writeHead(404, { 'content-type': 'text/plain' }).end('no such session');
    return true;
  };

  const post = (request, response, text) => {
    const message = JSON.parse(text);
    const { id, method, params } = message;
    const answer = (result) =>
      sendJson(response, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
    if (method === 'initialize') {
      if (settings.sessions) {
        const session = randomUUID();
        sessions.add(session);
        response.setHeader('mcp-session-id', session);
      }
      answer(JSON.stringify(greeting(params)));
      return;
    }
    if (forgotten(request, response)) return;
    if (id === undefined || method === undefined) {
      if (method === 'notifications/cancelled') cancelled.push(params.requestId);
      response.writeHead(202).end();
      return;
    }
    if (method === 'tools/list') answer(JSON.stringify({ tools: Object.keys(TOOLS).map(described) }));
    else if (method === 'tools/call') {
      const { name, arguments: args = {} } = params;
      runs.set(args.tag, (runs.get(args.tag) ?? 0) + 1);
      const hold = () => new Promise((resolve) => held.push(resolve));
      TOOLS[name]({ id: JSON.stringify(id), args, request, response, hold, resumable });
    } else
      sendJson(
        response,
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no"}}`,
      );
  };

  const postOlder = (response, text) => {
    const { id, method, params } = JSON.parse(text);
    if (method === 'notifications/cancelled') cancelled.push(params.requestId);
    const { name, arguments: args = {} } = params ?? {};
    const refused = name === 'refused';
    response.writeHead(refused ? args.status : 202, { 'content-type': 'text/plain' });
    response.end(refused ? 'not today' : '');
    if (id === undefined || method === undefined) return;
    if (method === 'tools/call') {
      runs.set(args.tag, (runs.get(args.tag) ?? 0) + 1);
      OLDER_TOOLS[name]({ id: JSON.stringify(id), args, response: older });
      return;
    }
    const result =
      method === 'initialize' ? greeting(params) : { tools: Object.keys(OLDER_TOOLS).map(described) };
    older.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
  };

  const get = (request, response) => {
    if (request.url.startsWith('/sse')) {
      const endpoint = settings.endpoint ?? '/message';
      response.writeHead(200, EVENTS).write(`event: endpoint\ndata: ${endpoint}\n\n`);
      older = response;
      return;
    }
    const rest = resumable.get(request.headers['last-event-id']);
    if (rest !== undefined) {
      if (!forgotten(request, response)) response.writeHead(200, EVENTS).end(rest);
      return;
    }
    if (settings.listening === 'none') {
      response.writeHead(405).end();
      return;
    }
    if (forgotten(request, response)) return;
    response.writeHead(200, EVENTS);
    if (settings.listening === 'flap') response.end('retry: 100\n: gone again\n\n');
    else {
      response.write(': here\n\n');
      streams.add(response);
      response.once('close', () => streams.delete(response));
    }
  };

  const handle = async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method, url, headers } = request;
    requests.push({ method, path: url, headers, body });
    if (settings.before?.(request, response, body) === true) return;
    if (method === 'POST' && url.startsWith('/message')) postOlder(response, body);
    else if (method === 'POST') post(request, response, body);
    else if (method === 'GET') get(request, response);
    else {
      sessions.delete(headers['mcp-session-id']);
      response.writeHead(200).end();
    }
  };

  const start = async () => {
    server = createServer((request, response) => {
      response.on('error', () => undefined);
      handle(request, response).catch(() => response.destroy());
    });
    await new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    ({ port } = server.address());
  };
  /** Every connection breaks, and every session is forgotten: as if its process had been killed. */
  const stop = async () => {
    sessions.clear();
    held = [];
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  await start();

  return {
    origin: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/mcp`,
    settings,
    /** Every request so far: { method, path, headers, body }. */
    requests,
    /** The ids that it was told to forget. */
    cancelled,
    /** How often a tool was run with this tag. */
    ran: (tag) => runs.get(tag) ?? 0,
    /** How many sessions there are. */
    sessions: () => sessions.size,
    /** How many calls of `held` wait. */
    waiting: () => held.length,
    release() {
      for (const go of held.splice(0)) go();
    },
    forget: () => sessions.clear(),
    /** Says something on every GET stream. */
    tell(message) {
      for (const stream of streams) stream.write(`data: ${JSON.stringify(message)}\n\n`);
    },
    listeners: () => streams.size,
    start,
    stop,
  };
}

const EVENTS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };

const answerTo = (id, text) =>
  `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}]}}`;

const ran = ({ id, args }) => answerTo(id, `ran ${args.tag}`);

function sendJson(response, text) {
  response.setHeader('content-type', 'application/json');
  response.end(text);
}

/** Leaves the connection to the system in the middle of what was said. */
function cut(response, text) {
  response.write(text, () => response.socket?.destroy());
}

function sendHuge(response, { id, args }, [before, after], last = true) {
  response.write(`${before}{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
  const piece = Buffer.alloc(65_536, 'x');
  let left = args.bytes;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length;
      if (!response.write(piece)) {
        response.once('drain', more);
        return;
      }
    }
    response.write(`"}]}}${after}`);
    if (last) response.end();
  };
  more();
}

const TOOLS = {
  ok: (call) => sendJson(call.response, ran(call)),
  ok_events: (call) => call.response.writeHead(200, EVENTS).end(`data: ${ran(call)}\n\n`),
  hang: () => undefined,
  held: async (call) => {
    await call.hold();
    sendJson(call.response, ran(call));
  },
  cut_json: (call) => {
    const text = ran(call);
    call.response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    cut(call.response, text.slice(0, -10));
  },
  cut_chunked: (call) => {
    call.response.writeHead(200, { 'content-type': 'application/json' });
    cut(call.response, ran(call).slice(0, -10));
  },
  cut_events: (call) => {
    call.response.writeHead(200, EVENTS);
    cut(call.response, `data: ${ran(call).slice(0, -10)}`);
  },
  cut_before: ({ response }) => void response.socket.destroy(),
  end_events: ({ response }) => response.writeHead(200, EVENTS).end(': nothing to say\n\n'),
  drip: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":"2.0","result":"');
    const timer = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(timer));
  },
  silent: ({ response }) => response.writeHead(200, EVENTS).flushHeaders(),
  html: ({ response }) =>
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end('<html><body>Welcome to the \u001b[31mportal</body></html>'),
  text: (call) => call.response.writeHead(200, { 'content-type': 'text/plain' }).end(ran(call)),
  untyped: (call) => call.response.writeHead(200).end(ran(call)),
  status: ({ args, request, response, id }) =>
    response
      .writeHead(args.status, { 'content-type': args.type })
      .end(
        String(args.body).replaceAll('$id', id).replaceAll('$authorization', request.headers.authorization),
      ),
  huge: (call) => {
    const around = answerTo(call.id, '').length;
    const bytes = Math.ceil(call.args.bytes / 65_536) * 65_536;
    call.response.writeHead(200, { 'content-type': 'application/json', 'content-length': around + bytes });
    sendHuge(call.response, call, ['', '']);
  },
  huge_chunked: (call) => {
    call.response.writeHead(200, { 'content-type': 'application/json' });
    sendHuge(call.response, call, ['', '']);
  },
  huge_events: (call) => {
    call.response.writeHead(200, EVENTS);
    sendHuge(call.response, call, ['data: ', '\n\n']);
  },
  babble: ({ response }) => sendJson(response, 'Segmentation fault (core dumped)'),
  empty: ({ response }) => response.writeHead(200).end(),
  accepted: ({ response }) => response.writeHead(202).end(),
  two: (call) => sendJson(call.response, `${ran(call)}\n${ran(call)}`),
  batch: (call) =>
    sendJson(
      call.response,
      `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"first"}},${ran(call)}]`,
    ),
  wrong_id: ({ response }) => sendJson(response, answerTo('987654', 'for somebody else')),
  wrong_id_events: ({ response }) =>
    response.writeHead(200, EVENTS).end(`data: ${answerTo('"987654"', 'for somebody else')}\n\n`),
  redirect: ({ args, response }) => response.writeHead(args.status, { location: args.to }).end(),
  bytes: ({ args, response, id }) => {
    const text = `{"jsonrpc":"2.0","x-before":1.0,"id":${id},"result":${args.result}}`;
    if (args.how === 'json') sendJson(response, text);
    else {
      const lines = args.how === 'spread' ? text.split('\n') : [text];
      response.writeHead(200, EVENTS).end(`id: 1\n${lines.map((line) => `data: ${line}`).join('\n')}\n\n`);
    }
  },
  resumable: (call) => {
    const event = `event-${call.args.tag}`;
    call.resumable.set(event, `id: last-of-${call.args.tag}\ndata: ${ran(call)}\n\n`);
    call.response.writeHead(200, EVENTS);
    cut(call.response, `retry: 100\nid: ${event}\ndata:\n\ndata: {"jsonrpc":`);
  },
  bare: ({ args, request }) => request.socket.end(args.raw),
};

const OLDER_TOOLS = {
  ok: (call) => call.response.write(`event: message\ndata: ${ran(call)}\n\n`),
  hang: () => undefined,
  refused: () => undefined,
  babble: (call) => call.response.write(`event: message\ndata: no JSON\n\ndata: ${ran(call)}\n\n`),
  huge: (call) => sendHuge(call.response, call, ['data: ', '\n\n'], false),
  cut: (call) => cut(call.response, `data: ${ran(call).slice(0, -10)}`),
};

function greeting({ protocolVersion }) {
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd-http', version: '1' } };
}

function described(name) {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' } };
}
