import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { JsonObject } from '../../protocol/index.ts';
import { RpcCode } from '../../wire/index.ts';

export interface ErrorReply {
  readonly status: number;
  /** What went wrong and what to do about it, as sentences. */
  readonly message: string;
  /** A JSON-RPC error code. Default: a server error. */
  readonly code?: number;
  readonly data?: JsonObject;
  /** The id of the answered request, as JSON text. Default null. */
  readonly id?: string | undefined;
  /** Whether the body has no id. Default false. */
  readonly omitId?: boolean;
  readonly headers?: OutgoingHttpHeaders;
}

/** Sends an error as an HTTP status with a JSON-RPC error body. */
export function replyError(response: ServerResponse, reply: ErrorReply): void {
  const body = begin(response, reply, false);
  response.end(body);
}

/**
 * The same for a request whose body is not read: the connection is closed after the answer. The rest of the body is
 * discarded for a moment first, because closing the connection while the client is sending may lose the answer.
 */
export function replyErrorUnread(
  request: IncomingMessage,
  response: ServerResponse,
  reply: ErrorReply,
): void {
  const body = begin(response, reply, true);
  if (!hasBody(request) || request.complete) {
    response.end(body);
    return;
  }
  response.write(body);
  let discarded = 0;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) end();
  });
  request.on('close', end);
}

/** How long such a connection stays open, and for how many bytes. */
export const LINGER_MS = 500;
const LINGER_BYTES = 16 * 1024 * 1024;

/** Sends a JSON document to a GET or HEAD request. */
export function replyJson({ method }: IncomingMessage, response: ServerResponse, text: string): void {
  if (method !== 'GET' && method !== 'HEAD') {
    replyErrorUnread(response.req, response, { ...NO_METHOD, headers: { Allow: 'GET, HEAD' } });
    return;
  }
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(method === 'HEAD' ? undefined : text);
}

const NO_METHOD = { status: 405, message: 'Method not allowed: see the Allow header.' };

/** Sends a response without a body. */
export function replyEmpty(response: ServerResponse, status: 202 | 204): void {
  response.writeHead(status, status === 202 ? NO_LENGTH : undefined);
  response.end();
}

const NO_LENGTH = { 'Content-Length': 0 };

function begin(
  response: ServerResponse,
  { status, message, code = RpcCode.serverError, data, id = 'null', omitId = false, headers }: ErrorReply,
  closing: boolean,
): Buffer {
  const error = JSON.stringify({ code, message, data });
  const body = Buffer.from(`{"jsonrpc":"2.0",${omitId ? '' : `"id":${id},`}"error":${error}}`);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...headers,
    ...(closing ? { Connection: 'close' } : {}),
  });
  return body;
}

/** Whether the client of a response has disconnected. Pipelined responses emit no event for this. */
export function isDisconnected(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
