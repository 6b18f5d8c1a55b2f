import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { RpcCode } from '../../wire/index.ts';

export interface ErrorReply {
  readonly status: number;
  /** What went wrong and what to do about it, as sentences. */
  readonly message: string;
  /** A code of JSON-RPC. Default: an error of the server. */
  readonly code?: number;
  /** The id of the request that is answered, as JSON text. Default null. */
  readonly id?: string | undefined;
  readonly headers?: OutgoingHttpHeaders;
}

/** Answers an exchange with an error, in HTTP's words and in JSON-RPC's. */
export function replyError(response: ServerResponse, reply: ErrorReply): void {
  const body = begin(response, reply, false);
  response.end(body);
}

/**
 * The same for a request whose body is not wanted: the connection ends with the answer. What the client is still sending
 * is thrown away for a moment first, because a connection that is closed on it may lose the answer on the way.
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

/** How long a connection that is to end is kept, so that the client can read why, and for how many bytes. */
export const LINGER_MS = 500;
const LINGER_BYTES = 16 * 1024 * 1024;

/** Answers an exchange that needs no words. */
export function replyEmpty(response: ServerResponse, status: 202 | 204): void {
  response.writeHead(status, status === 202 ? NO_LENGTH : undefined);
  response.end();
}

const NO_LENGTH = { 'Content-Length': 0 };

function begin(
  response: ServerResponse,
  { status, message, code = RpcCode.serverError, id = 'null', headers }: ErrorReply,
  closing: boolean,
): Buffer {
  const error = JSON.stringify({ code, message });
  const body = Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${error}}`);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...headers,
    ...(closing ? { Connection: 'close' } : {}),
  });
  return body;
}

/** Whether nobody can be reached by this response any more. One that waits for an earlier answer is not told of that. */
export function isGone(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
