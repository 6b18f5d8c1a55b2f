import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_TYPE } from './media.ts';

/** The paths that load balancers and orchestrators ask. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/**
 * Answers a probe: `/healthz` as long as the process lives, `/readyz` while new clients are welcome. Probes have no token
 * and name us as they like, so they learn no more than one word. `notReady` is why we are not; undefined where we are.
 */
export function answerProbe(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  notReady: string | undefined,
): void {
  const { method } = request;
  // Without a token, a connection may not stay open for long.
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
