import type { IncomingMessage, ServerResponse } from 'node:http';
import { LinkedSet, type Linked } from '../../shared/linked-set.ts';
import type { Logger } from '../../shared/log.ts';
import { Client, isModernVersion, ModernCode, Server } from '../../protocol/index.ts';
import {
  errorJson,
  memberText,
  notificationJson,
  resultJson,
  RpcCode,
  serialize,
  serializeText,
  type Edit,
  type Message,
  type SerializedMessage,
} from '../../wire/index.ts';
import type { Attempt, ReplyChannel } from '../modern/attempt.ts';
import { DISCONNECTED, unsupportedVersion, type ModernEndpoint } from '../modern/endpoint.ts';
import type { Caller } from './caller.ts';
import type { HttpDoorOptions } from './door.ts';
import { EventStream } from './event-stream.ts';
import { HttpExchange } from './exchange.ts';
import { headerFault, type RepeatedParam } from './modern-headers.ts';
import { HTTP_REFUSALS } from './refusals.ts';
import { isDisconnected, replyEmpty, replyError, type ErrorReply } from './reply.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { UnsentData } from './unsent-data.ts';

/** Handles the requests of one principal without a session. */
export type ModernRequestHandler = Pick<ModernEndpoint, 'refusal' | 'run' | 'cancel'>;

/** Handles the requests of all clients without a session. Different principals are kept apart. */
export interface ModernPrincipals extends Pick<ModernEndpoint, 'idle' | 'failAll'> {
  endpointOf(caller: Caller): ModernRequestHandler;
  /** Ends everything that belongs to callers whose tokens were revoked. */
  endThose(isRevoked: (caller: Caller) => boolean): void;
}

/** The POSTs of modern clients. There are no sessions: every POST is independent. */
export class ModernPosts {
  readonly log: Logger;
  readonly timeouts: HttpTimeouts;
  readonly #principals: ModernPrincipals;
  readonly #paramHeaders: (tool: string, caller: Caller) => readonly RepeatedParam[];
  readonly #limit: number;
  readonly #exchanges = new LinkedSet<ModernExchange>();
  /** Runs while there are exchanges, and for a moment afterwards, because another one usually follows. */
  #timer: NodeJS.Timeout | undefined;

  constructor({ modern, paramHeaders = none, limits, log }: HttpDoorOptions, timeouts: HttpTimeouts) {
    this.#principals = modern;
    this.log = log;
    this.timeouts = timeouts;
    this.#paramHeaders = paramHeaders;
    this.#limit = limits.sessions;
  }

  take(message: Message, request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    const id = message.text(Client.id);
    if (!message.has(Client.method)) replyError(response, HTTP_REFUSALS.noAnswers);
    // This era has no client notifications over HTTP: closing the exchange cancels the request.
    else if (id === undefined) replyEmpty(response, 202);
    else {
      const method = message.requiredString(Client.method);
      const endpoint = this.#principals.endpointOf(caller);
      const refusal =
        this.#headerRefusal(message, request, caller) ?? this.#refusal(message, method, endpoint);
      if (refusal) replyError(response, { ...refusal, id });
      // A client that has already left emits no close event.
      else if (!isDisconnected(response)) {
        const exchange = new ModernExchange(this, { endpoint, caller, method, response });
        this.#exchanges.add(exchange);
        this.#timer ??= setInterval(() => this.#tick(), this.timeouts.tickMs).unref();
        exchange.run(message);
      }
    }
  }

  /** Resolves when all answers have been sent. */
  async flushed(): Promise<void> {
    await Promise.all(this.#exchanges.members().map((exchange) => exchange.flushed()));
  }

  /** Ends the remaining exchanges. */
  close(): void {
    for (const exchange of this.#exchanges.members()) exchange.close();
    this.#stopTimer();
  }

  /** An exchange has ended. */
  left(exchange: ModernExchange): void {
    this.#exchanges.remove(exchange);
  }

  #headerRefusal(message: Message, request: IncomingMessage, caller: Caller): ErrorReply | undefined {
    const named = request.headers['mcp-protocol-version'];
    // If only the header names the unsupported version, the body cannot be interpreted.
    if (typeof named === 'string' && !isModernVersion(named) && !message.has(Client.version))
      return { status: 400, ...unsupportedVersion(named) };
    const fault = headerFault(request.headers, message, (tool) => this.#paramHeaders(tool, caller));
    return fault === undefined
      ? undefined
      : { status: 400, code: ModernCode.headerMismatch, message: `Header mismatch: ${fault}.` };
  }

  #refusal(message: Message, method: string, endpoint: ModernRequestHandler): ErrorReply | undefined {
    const refusal = endpoint.refusal(message, method);
    if (refusal) return { status: refusal.code === RpcCode.methodNotFound ? 404 : 400, ...refusal };
    return this.#exchanges.size < this.#limit ? undefined : HTTP_REFUSALS.noRequestRoom;
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

interface ModernRequest {
  readonly endpoint: ModernRequestHandler;
  readonly caller: Caller;
  readonly method: string;
  readonly response: ServerResponse;
}

/** One POST of a modern client. A client that disconnects has cancelled its request. */
class ModernExchange extends HttpExchange implements ReplyChannel, Linked<ModernExchange> {
  before: ModernExchange | undefined = undefined;
  after: ModernExchange | undefined = undefined;
  readonly #posts: ModernPosts;
  readonly #endpoint: ModernRequestHandler;
  readonly #expiresAt: number;
  readonly #method: string;
  #attempt: Attempt | undefined = undefined;
  #answered = false;
  #closed = false;

  constructor(posts: ModernPosts, { endpoint, caller, method, response }: ModernRequest) {
    super(response, new UnsentData(), newStream);
    this.#posts = posts;
    this.#endpoint = endpoint;
    this.#expiresAt = caller.expiresAt ?? Infinity;
    this.#method = method;
    response.on('close', () => this.close());
  }

  run(request: Message): void {
    this.#attempt = this.#endpoint.run(request, this, this.#method);
    // A subscription may be silent for a long time; the headers show that it was accepted.
    if (this.#attempt.handler?.listens === true) this.becomeStream();
  }

  /** Resolves when everything written so far has been sent, or cannot be. */
  flushed(): Promise<void> {
    return this.unsent.flushed();
  }

  /** Applies the timeouts. */
  tick(now: number): void {
    const { silenceMs, keepAliveMs, stallMs } = this.#posts.timeouts;
    // Before the answer, some data may wait; after it, no further write would get the data moving.
    const problem = this.unsent.problem(now, stallMs, this.#answered ? 0 : undefined);
    if (problem !== undefined) this.#giveUp(problem);
    else if (this.#answered) return;
    else if (this.#attempt?.handler?.listens === true && Date.now() >= this.#expiresAt)
      this.#giveUp('the token of a subscription has expired');
    else if (this.stream) this.stream.keepAlive(now, keepAliveMs);
    else if (now - this.openedAt >= silenceMs) this.becomeStream();
  }

  /** Ends the exchange, answered or not. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#posts.left(this);
    this.unsent.close(this.#posts.timeouts.stallMs);
    if (this.#attempt) this.#endpoint.cancel(this.#attempt, DISCONNECTED);
  }

  answerText(id: string, result: string): void {
    this.#answer(serializeText(resultJson(id, result)));
  }

  fail(id: string, code: number, message: string, data?: unknown): void {
    this.#answer(serializeText(errorJson(id, code, message, data)), code);
  }

  forwardAnswer(answer: Message, request: Message, edits: readonly Edit[]): void {
    this.#answer(serialize(answer, edits, request), answer.has(Server.error) ? errorCode(answer) : undefined);
  }

  forward(notification: Message, edits: readonly Edit[]): void {
    if (this.#isOpen) this.send(serialize(notification, edits));
  }

  notifyText(method: string, params: string): void {
    if (this.#isOpen) this.send(serializeText(notificationJson(method, params)));
  }

  get congested(): boolean {
    return this.unsent.congested;
  }

  whenDrained(listener: () => void): void {
    this.unsent.whenDrained(listener);
  }

  get #isOpen(): boolean {
    return !this.#closed && !this.#answered && !isDisconnected(this.response);
  }

  /** `code` is the code if the answer is an error. */
  #answer(answer: SerializedMessage, code?: number): void {
    if (!this.#isOpen) return;
    this.#answered = true;
    // Clients treat a 404 as a transport error and ignore the body.
    const isRelayed = code === RpcCode.methodNotFound && RELAYED.has(this.#method);
    this.finish(answer, code === undefined || isRelayed ? 200 : (STATUSES.get(code) ?? 200));
  }

  #giveUp(why: string): void {
    if (this.#closed) return;
    this.#posts.log.warn('closed an HTTP exchange', { why });
    this.response.destroy();
    // A pipelined response emits no close event.
    this.close();
  }
}

/** Has no history, because a modern client cannot resume a stream. */
const newStream = (unsent: UnsentData): EventStream => new EventStream(unsent);

function errorCode(answer: Message): number {
  const error = answer.requiredText(Server.error);
  return error.startsWith('{') ? Number(memberText(error, 'code')) : NaN;
}

/** Methods that we relay: "method not found" is then the server's own answer. */
const RELAYED: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
  'tasks/get',
  'tasks/cancel',
]);

/** The HTTP status of each error code: protocol errors are HTTP errors too, errors of a tool or server are not. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [RpcCode.methodNotFound, 404],
  [ModernCode.headerMismatch, 400],
  [ModernCode.missingCapability, 400],
  [ModernCode.unsupportedVersion, 400],
]);
