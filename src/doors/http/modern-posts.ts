import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../shared/log.ts';
import {
  Client,
  isLegacyVersion,
  isModernVersion,
  LEGACY_VERSIONS,
  Meta,
  MODERN_VERSION,
  ModernCode,
  type JsonObject,
} from '../../protocol/index.ts';
import { RpcCode, type Message } from '../../wire/index.ts';
import { JSON_TYPE } from './media.ts';
import { ModernExchange, type ModernExchangeHost, type RequestConnection } from './modern-exchange.ts';
import { headerFault, type RepeatedParam } from './modern-headers.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { isDisconnected, replyEmpty } from './reply.ts';

export interface ModernPostsOptions {
  readonly open: (input: Readable, output: Writable) => RequestConnection;
  /** The parameters of a tool that are repeated in headers. Default none. */
  readonly paramHeaders?: ((tool: string) => readonly RepeatedParam[]) | undefined;
  /** How many may run at the same time. */
  readonly limit: number;
  readonly log: Logger;
  readonly timeouts: HttpTimeouts;
}

/** The POSTs of modern clients. There are no sessions: every POST is independent. */
export class ModernPosts {
  readonly #host: ModernExchangeHost;
  readonly #paramHeaders: (tool: string) => readonly RepeatedParam[];
  readonly #limit: number;
  readonly #exchanges = new Set<ModernExchange>();
  /** Runs while there are exchanges. */
  #timer: NodeJS.Timeout | undefined;

  constructor({ open, paramHeaders = none, limit, log, timeouts }: ModernPostsOptions) {
    this.#paramHeaders = paramHeaders;
    this.#limit = limit;
    this.#host = { open, log, timeouts, left: (exchange) => this.#left(exchange) };
  }

  /** Whether the header of a request names a version without a handshake. */
  static claims({ headers }: IncomingMessage): boolean {
    const version = headers['mcp-protocol-version'];
    return version !== undefined && !isLegacyVersion(version);
  }

  /** Whether the body does, whatever the header says. */
  static carries(message: Message): boolean {
    // Reading a rare member costs a second scan of the message.
    return message.mentions(Meta.protocolVersion) && message.has(Client.version);
  }

  take(message: Message, request: IncomingMessage, response: ServerResponse): void {
    const id = message.text(Client.id);
    if (!message.has(Client.method)) refuse(response, undefined, NO_ANSWERS);
    // The era has no client notifications over HTTP: closing the exchange cancels.
    else if (id === undefined) replyEmpty(response, 202);
    else {
      const refusal = this.#refusal(message, request);
      if (refusal) refuse(response, id, refusal);
      // No close event follows for a client that has left already.
      else if (!isDisconnected(response)) this.#begin(message, response);
    }
  }

  /** Resolves when nothing waits for an answer any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#exchanges].map((exchange) => exchange.idle()));
  }

  /** Answers all running requests, and ends subscriptions. */
  failAll(): void {
    for (const exchange of [...this.#exchanges]) exchange.failAll();
  }

  /** Resolves when all answers are sent. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#exchanges].map((exchange) => exchange.flushed()));
  }

  /** Ends the remaining exchanges. */
  close(): void {
    for (const exchange of [...this.#exchanges]) exchange.close();
  }

  #refusal(message: Message, request: IncomingMessage): PostRefusal | undefined {
    const named = request.headers['mcp-protocol-version'];
    // If only the header names the unsupported version, the body cannot be interpreted.
    if (typeof named === 'string' && !isModernVersion(named) && !message.has(Client.version))
      return unsupported(named);
    const fault = headerFault(request.headers, message, this.#paramHeaders);
    if (fault !== undefined)
      return { status: 400, code: ModernCode.headerMismatch, message: `Header mismatch: ${fault}.` };
    return this.#exchanges.size < this.#limit ? undefined : NO_ROOM;
  }

  #begin(message: Message, response: ServerResponse): void {
    this.#exchanges.add(new ModernExchange(message, response, this.#host));
    this.#timer ??= setInterval(() => this.#tick(), this.#host.timeouts.tickMs).unref();
  }

  #left(exchange: ModernExchange): void {
    if (!this.#exchanges.delete(exchange) || this.#exchanges.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const now = performance.now();
    for (const exchange of [...this.#exchanges]) exchange.tick(now);
  }
}

const none = (): readonly RepeatedParam[] => [];

interface PostRefusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
  readonly headers?: OutgoingHttpHeaders;
}

const NO_ANSWERS: PostRefusal = {
  status: 400,
  code: RpcCode.invalidRequest,
  message:
    'Invalid request: only requests and notifications are accepted. Answer server requests with inputResponses.',
};
const NO_ROOM: PostRefusal = {
  status: 503,
  code: RpcCode.internalError,
  message: 'Service unavailable: the request limit (http.maxSessions) is reached. Try again later.',
  headers: { 'Retry-After': '1' },
};

function unsupported(requested: string): PostRefusal {
  return {
    status: 400,
    code: ModernCode.unsupportedVersion,
    message: 'Unsupported protocol version',
    data: { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: requested.slice(0, 200) },
  };
}

/** The era has no null ids: an unknown id is left out. */
function refuse(response: ServerResponse, id: string | undefined, refusal: PostRefusal): void {
  const { status, code, message, data, headers } = refusal;
  const error = JSON.stringify({ code, message, data });
  const body = Buffer.from(`{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}"error":${error}}`);
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': body.length, ...headers });
  response.end(body);
}
