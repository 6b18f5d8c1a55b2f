import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_TYPE } from './media.ts';

/** The paths that load balancers and orchestrators poll. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/**
 * Answers a probe: `/healthz` succeeds while the process runs, `/readyz` while new clients are accepted. Probes have no
 * token and may use any host name, so they learn one word at most. `notReady` is why clients are not accepted;
 * undefined if they are.
 */
export function answerProbe(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  notReady: string | undefined,
): void {
  const { method } = request;
  // A connection without a token may not stay open for long.
  const headers = { Connection: 'close', 'Cache-Control': 'no-store' };
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { ...headers, Allow: 'GET, HEAD' }).end();
    return;
  }
  const why = path === '/readyz' ? notReady : undefined;
  const body = JSON.stringify({ status: why ?? (path === '/readyz' ? 'ready' : 'ok') });
  const status = why === undefined ? 200 : 503;
  response.writeHead(status, {
    ...headers,
    ...(why === undefined ? {} : { 'Retry-After': '5' }),
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(method === 'HEAD' ? undefined : body);
}
