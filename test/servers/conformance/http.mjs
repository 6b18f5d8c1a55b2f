/** The server over Streamable HTTP on 127.0.0.1: sessions for the legacy era, single requests for the modern one. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { checkHeaders } from './headers.mjs';
import { LegacySession } from './legacy.mjs';
import { answerModern, KEY } from './modern.mjs';
import { SessionStreams } from './streams.mjs';
import { LEGACY_VERSIONS } from './server-state.mjs';

const LIMIT = 4 * 1024 * 1024;
const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Listens and resolves with its address. */
export function serveHttp(serverState, port) {
  const sessions = new Map();
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      if (!response.headersSent) json(response, 500, failure(-32603, error.message));
      else response.destroy();
    });
  });

  async function handle(request, response) {
    if (!isLocal(request.headers)) return json(response, 403, failure(-32600, 'Host or Origin is not local'));
    if (new URL(request.url, 'http://localhost').pathname !== '/mcp') return json(response, 404, {});
    if (request.method === 'POST') return post(request, response);
    const session = sessions.get(request.headers['mcp-session-id']);
    if (!serverState.speaksLegacy || !['GET', 'DELETE'].includes(request.method)) {
      return json(response.setHeader('Allow', 'POST'), 405, failure(-32600, 'Method not allowed'));
    }
    if (session === undefined) return json(response, 404, failure(-32001, 'Session not found'));
    if (request.method === 'GET') return session.streams.read(response, request.headers['last-event-id']);
    sessions.delete(request.headers['mcp-session-id']);
    session.legacy.close();
    session.streams.close();
    response.writeHead(200).end();
  }

  async function post(request, response) {
    let message;
    try {
      message = JSON.parse(await bodyOf(request));
    } catch {
      return json(response, 400, failure(-32700, 'Parse error'));
    }
    const version = request.headers['mcp-protocol-version'];
    const isModern =
      message?.params?._meta?.[KEY('protocolVersion')] !== undefined ||
      (version !== undefined && !LEGACY_VERSIONS.includes(version)) ||
      !serverState.speaksLegacy;
    if (!isModern) return legacy(request, response, message);
    if (!serverState.speaksModern) {
      return json(response, 400, failure(-32600, 'Unsupported protocol version', message?.id));
    }
    return modern(request, response, message);
  }

  async function legacy(request, response, message) {
    let id = request.headers['mcp-session-id'];
    if (message.method === 'initialize') {
      id = randomUUID();
      const streams = new SessionStreams();
      sessions.set(id, { streams, legacy: new LegacySession(serverState, (each) => streams.push(each)) });
      response.setHeader('Mcp-Session-Id', id);
    }
    if (id === undefined)
      return json(response, 400, failure(-32600, 'Mcp-Session-Id is missing', message.id));
    const session = sessions.get(id);
    if (session === undefined) return json(response, 404, failure(-32001, 'Session not found', message.id));
    if (message.method === undefined || message.id === undefined) {
      void session.legacy.receive(message, {});
      return void response.writeHead(202).end();
    }
    const stream = session.streams.open(response, message.method !== 'initialize');
    return session.legacy.receive(message, { send: stream.send, dropStream: stream.drop });
  }

  async function modern(request, response, message) {
    if (message?.method === undefined || message.id === undefined) return void response.writeHead(202).end();
    const controller = new AbortController();
    response.on('close', () => controller.abort());
    let streaming = false;
    const send = (each) => {
      if (controller.signal.aborted) return;
      if (!streaming)
        response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
      streaming = true;
      response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...each })}\n\n`);
    };
    const { status, reply } = await answerModern(serverState, message, {
      send,
      signal: controller.signal,
      headerVersion: request.headers['mcp-protocol-version'] ?? '',
      check: () => checkHeaders(request, message, serverState),
    });
    if (controller.signal.aborted) return;
    if (!streaming) return json(response, status, { jsonrpc: '2.0', id: message.id, ...reply });
    send({ id: message.id, ...reply });
    response.end();
  }

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}/mcp`));
  });
}

/** A page of another site whose name was made to mean this machine comes with its own name in Host and Origin. */
function isLocal({ host = '', origin }) {
  const nameOf = (authority) => authority.toLowerCase().replace(/:\d+$/, '');
  if (!LOCAL.has(nameOf(host))) return false;
  return origin === undefined || LOCAL.has(nameOf(origin.replace(/^https?:\/\//, '')));
}

async function bodyOf(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > LIMIT) throw new Error('Too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const failure = (code, message, id = null) => ({ jsonrpc: '2.0', id, error: { code, message } });

function json(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
