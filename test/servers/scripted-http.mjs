/**
 * An MCP server over HTTP that answers with the bytes it is given. In a test:
 * `const server = await startScriptedHttp({ modern, events })`.
 *
 *   modern   speaks 2026-07-28 only; else only the versions before it
 *   events   answers calls with an event stream; else with JSON
 *
 * Tools: script {bytes, cuts}: these bytes, given as base64, cut at these offsets; $id and $token in them are those of the
 * call. As JSON they are the whole body. As events each line is one, and "right" is the last. echo {text}.
 */
import { createServer } from 'node:http';
import { cutScript } from './lib/script.mjs';
import { nextTurn, text } from './lib/server.mjs';

const MODERN = '2026-07-28';
const SERVER_INFO = { name: 'scripted-http', version: '1' };
const TOOLS = ['script', 'echo'].map((name) => ({ name, inputSchema: { type: 'object' } }));

export async function startScriptedHttp({ modern, events }) {
  const results = {
    ...(modern
      ? { 'server/discover': () => ({ supportedVersions: [MODERN], capabilities: { tools: {} }, ...KEPT }) }
      : { initialize: greeting }),
    'tools/list': () => ({ tools: TOOLS, ...(modern ? KEPT : {}) }),
    'tools/call': ({ arguments: args }) => text(String(args?.text)),
  };
  const extra = modern
    ? { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': SERVER_INFO } }
    : {};
  const answer = ({ id, method, params }, result = results[method]?.(params)) =>
    JSON.stringify(
      result === undefined
        ? { jsonrpc: '2.0', id, error: { code: -32601, message: `Method not found: ${method}` } }
        : { jsonrpc: '2.0', id, result: { ...result, ...extra } },
    );

  const server = createServer(async (request, response) => {
    response.on('error', () => undefined);
    const message = await bodyOf(request);
    if (message?.id === undefined || message.method === undefined) {
      response.writeHead(request.method === 'GET' ? 405 : 202).end();
      return;
    }
    const call = message.method === 'tools/call';
    response.setHeader('content-type', call && events ? 'text/event-stream' : 'application/json');
    if (!call || message.params.name !== 'script') {
      response.end(call && events ? `data: ${answer(message)}\n\n` : answer(message));
      return;
    }
    const { arguments: args, _meta } = message.params;
    for (const piece of piecesOf(args, { id: message.id, progressToken: _meta?.progressToken }, events)) {
      response.write(piece);
      await nextTurn();
    }
    response.end(events ? `data: ${answer(message, text('right'))}\n\n` : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const KEPT = { ttlMs: 60_000, cacheScope: 'public' };

function greeting({ protocolVersion }) {
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER_INFO };
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}

/** As events, each line of the script is one. */
function piecesOf(args, call, events) {
  if (!events) return cutScript(args, call);
  const lines = Buffer.from(args.bytes, 'base64').toString('latin1').split('\n');
  const bytes = lines.map((line) => `data: ${line}\n\n`).join('');
  return cutScript({ ...args, bytes: Buffer.from(bytes, 'latin1').toString('base64') }, call);
}
