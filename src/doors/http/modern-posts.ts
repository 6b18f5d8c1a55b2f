import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Logger } from '../../shared/log.ts';
import {
  Client,
  isLegacyVersion,
  isModernVersion,
  Meta,
  ModernCode,
  type JsonObject,
} from '../../protocol/index.ts';
import { RpcCode, type Message } from '../../wire/index.ts';
import { unsupportedVersion } from '../modern/endpoint.ts';
import { LinkedSet } from '../linked-set.ts';
import { JSON_TYPE } from './media.ts';
import { ModernExchange, type ModernExchangeHost, type ModernRequestHandler } from './modern-exchange.ts';
import { headerFault, type RepeatedParam } from './modern-headers.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { isDisconnected, replyEmpty } from './reply.ts';

export interface ModernPostsOptions {
  readonly endpoint: ModernRequestHandler;
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
  readonly #exchanges = new LinkedSet<ModernExchange>();
  /** Runs while there are exchanges, and a moment longer: mostly another one follows. */
  #timer: NodeJS.Timeout | undefined;

  constructor({ endpoint, paramHeaders = none, limit, log, timeouts }: ModernPostsOptions) {
    this.#paramHeaders = paramHeaders;
    this.#limit = limit;
    this.#host = { endpoint, log, timeouts, left: (exchange) => this.#exchanges.remove(exchange) };
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
      const method = message.string(Client.method)!;
      const refusal = this.#refusal(message, method, request);
      if (refusal) refuse(response, id, refusal);
      // No close event follows for a client that has left already.
      else if (!isDisconnected(response)) this.#begin(message, method, response);
    }
  }

  /** Resolves when nothing waits for an answer any more. */
  idle(): Promise<void> {
    return this.#host.endpoint.idle();
  }

  /** Answers all running requests, and ends subscriptions. */
  failAll(): void {
    this.#host.endpoint.failAll();
  }

  /** Resolves when all answers are sent. */
  async flushed(): Promise<void> {
    await Promise.all(this.#exchanges.members().map((exchange) => exchange.flushed()));
  }

  /** Ends the remaining exchanges. */
  close(): void {
    for (const exchange of this.#exchanges.members()) exchange.close();
    this.#stopTimer();
  }

  #refusal(message: Message, method: string, request: IncomingMessage): PostRefusal | undefined {
    const named = request.headers['mcp-protocol-version'];
    // If only the header names the unsupported version, the body cannot be interpreted.
    if (typeof named === 'string' && !isModernVersion(named) && !message.has(Client.version))
      return { status: 400, ...unsupportedVersion(named) };
    const fault = headerFault(request.headers, message, this.#paramHeaders);
    if (fault !== undefined)
      return { status: 400, code: ModernCode.headerMismatch, message: `Header mismatch: ${fault}.` };
    const refusal = this.#host.endpoint.refusal(message, method);
    if (refusal) return { status: refusal.code === RpcCode.methodNotFound ? 404 : 400, ...refusal };
    return this.#exchanges.size < this.#limit ? undefined : NO_ROOM;
  }

  #begin(message: Message, method: string, response: ServerResponse): void {
    const exchange = new ModernExchange(message, method, response, this.#host);
    this.#exchanges.add(exchange);
    this.#timer ??= setInterval(() => this.#tick(), this.#host.timeouts.tickMs).unref();
    exchange.run();
  }

  #tick(): void {
    const now = performance.now();
    for (const exchange of this.#exchanges.members()) exchange.tick(now);
    if (this.#exchanges.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
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

/** The era has no null ids: an unknown id is left out. */
function refuse(response: ServerResponse, id: string | undefined, refusal: PostRefusal): void {
  const { status, code, message, data, headers } = refusal;
  const error = JSON.stringify({ code, message, data });
  const body = Buffer.from(`{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}"error":${error}}`);
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': body.length, ...headers });
  response.end(body);
}
