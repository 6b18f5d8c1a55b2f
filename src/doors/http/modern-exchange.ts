import type { ServerResponse } from 'node:http';
import type { Logger } from '../../shared/log.ts';
import { Client, ModernCode, Server } from '../../protocol/index.ts';
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
import { DISCONNECTED, type ModernEndpoint } from '../modern/endpoint.ts';
import type { Linked } from '../linked-set.ts';
import { EventStream } from './event-stream.ts';
import { HttpExchange } from './exchange.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { isDisconnected } from './reply.ts';
import { UnsentData } from './unsent-data.ts';

/** Takes the requests of clients without a session. */
export type ModernRequestHandler = Pick<ModernEndpoint, 'refusal' | 'run' | 'cancel' | 'idle' | 'failAll'>;

/** Shared by the exchanges of a door. */
export interface ModernExchangeHost {
  readonly endpoint: ModernRequestHandler;
  readonly log: Logger;
  readonly timeouts: HttpTimeouts;
  /** The exchange has ended. */
  readonly left: (exchange: ModernExchange) => void;
}

/** One POST of a modern client. A client that disconnects has cancelled its request. */
export class ModernExchange extends HttpExchange implements ReplyChannel, Linked<ModernExchange> {
  before: ModernExchange | undefined = undefined;
  after: ModernExchange | undefined = undefined;
  readonly #request: Message;
  readonly #method: string;
  readonly #host: ModernExchangeHost;
  #attempt: Attempt | undefined = undefined;
  #answered = false;
  #closed = false;

  constructor(request: Message, method: string, response: ServerResponse, host: ModernExchangeHost) {
    super(response, new UnsentData());
    this.#request = request;
    this.#method = method;
    this.#host = host;
    response.on('close', () => this.close());
  }

  run(): void {
    this.#attempt = this.#host.endpoint.run(this.#request, this, this.#method);
    // A subscription may be silent for long; the headers show that it was accepted.
    if (this.#attempt.handler?.listens === true) this.becomeStream();
  }

  /** Resolves when the answer is sent, or cannot be. */
  flushed(): Promise<void> {
    if (this.#closed || this.response.writableFinished) return Promise.resolve();
    return new Promise((resolve) => {
      this.response.on('finish', resolve).on('close', resolve);
    });
  }

  /** Applies the timeouts. */
  tick(now: number): void {
    const { silenceMs, keepAliveMs, stallMs } = this.#host.timeouts;
    // Before the answer some data may wait; after it no write follows that would move it.
    const problem = this.unsent.problem(now, stallMs, this.#answered ? 0 : undefined);
    if (problem !== undefined) this.#giveUp(problem);
    else if (this.#answered) return;
    else if (this.stream) this.stream.keepAlive(now, keepAliveMs);
    else if (now - this.openedAt >= silenceMs) this.becomeStream();
  }

  /** Ends it, answered or not. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#host.left(this);
    this.unsent.close(this.#host.timeouts.stallMs);
    if (this.#attempt) this.#host.endpoint.cancel(this.#attempt, DISCONNECTED);
  }

  answerText(id: string, result: string): void {
    this.#answer(serializeText(resultJson(id, result)), 200);
  }

  fail(id: string, code: number, message: string, data?: unknown): void {
    this.#answer(serializeText(errorJson(id, code, message, data)), this.#statusOf(code));
  }

  forwardAnswer(answer: Message, request: Message, edits: readonly Edit[]): void {
    this.#answer(
      serialize(answer, edits, request),
      answer.has(Server.error) ? this.#statusOf(errorCode(answer)) : 200,
    );
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

  protected override openStream(): EventStream {
    return new EventStream(this.unsent);
  }

  get #isOpen(): boolean {
    return !this.#closed && !this.#answered && !isDisconnected(this.response);
  }

  #answer(answer: SerializedMessage, status: number): void {
    if (!this.#isOpen) return;
    this.#answered = true;
    this.finish(answer, this.#request.text(Client.id)!, status);
  }

  /** The HTTP status of an error: protocol errors are HTTP errors too; errors of a tool or server are not. */
  #statusOf(code: number): number {
    // Clients take a 404 for a transport error and ignore the body.
    return code === RpcCode.methodNotFound && RELAYED.has(this.#method) ? 200 : (STATUSES.get(code) ?? 200);
  }

  #giveUp(why: string): void {
    if (this.#closed) return;
    this.#host.log.warn('closed an HTTP exchange', { why });
    this.response.destroy();
    // A pipelined response gets no close event.
    this.close();
  }
}

function errorCode(answer: Message): number {
  const error = answer.text(Server.error)!;
  return error.startsWith('{') ? Number(memberText(error, 'code')) : NaN;
}

/** Methods that we relay: "method not found" comes from the server and is its answer. */
const RELAYED: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
  'tasks/get',
  'tasks/cancel',
]);

const STATUSES: ReadonlyMap<number, number> = new Map([
  [RpcCode.methodNotFound, 404],
  [ModernCode.headerMismatch, 400],
  [ModernCode.missingCapability, 400],
  [ModernCode.unsupportedVersion, 400],
]);
