/** The server over stdin and stdout, one message a line. In `both`, each request says of which era it is. */
import { createInterface } from 'node:readline';
import { LegacySession } from './legacy.mjs';
import { answerModern, KEY } from './modern.mjs';
import { MODERN_VERSION } from './server-state.mjs';

export function serveStdio(serverState) {
  const send = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const running = new Map();
  let session;

  const modern = async (request) => {
    const controller = new AbortController();
    running.set(request.id, controller);
    const { reply } = await answerModern(serverState, request, { send, signal: controller.signal });
    running.delete(request.id);
    if (!controller.signal.aborted) send({ id: request.id, ...reply });
  };

  const receive = (message) => {
    const { id, method, params } = message;
    if (method === 'initialize' && serverState.speaksLegacy) {
      session?.close();
      session = new LegacySession(serverState, send);
    } else if (method === 'initialize') {
      const data = { supported: [MODERN_VERSION], requested: String(params?.protocolVersion) };
      return send({ id, error: { code: -32022, message: 'Unsupported protocol version', data } });
    }
    if (method === 'notifications/cancelled') running.get(params?.requestId)?.abort();
    const isModern = params?._meta?.[KEY('protocolVersion')] !== undefined;
    if (
      method !== undefined &&
      id !== undefined &&
      serverState.speaksModern &&
      (isModern || session === undefined)
    ) {
      return void modern(message);
    }
    if (session !== undefined) return void session.receive(message, { send });
    if (method !== undefined && id !== undefined) {
      send({ id, error: { code: -32601, message: `Method not found before initialize: ${method}` } });
    }
  };

  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line.trim() === '') return;
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return send({ id: null, error: { code: -32700, message: 'Parse error' } });
    }
    receive(message);
  });
  process.stdin.on('end', () => process.exit(0));
}
