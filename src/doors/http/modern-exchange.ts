import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../shared/log.ts';
import { Client, isModernVersion, ModernCode, Server } from '../../protocol/index.ts';
import { memberText, RpcCode, viewsOf, type Message } from '../../wire/index.ts';
import { BACKED_UP_BYTES, BytePipe } from './byte-pipe.ts';
import { beginEvents, COMMENT, writeEvent } from './event-stream.ts';
import { JSON_TYPE } from './media.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { isDisconnected } from './reply.ts';

/** One request of a modern client, connected to the core. */
export interface RequestConnection {
  /** Answers it now: with an error, or with the end of a subscription. */
  failAll(): void;
  /**
   * The client has disconnected: the request is cancelled. A call that was answered with `input_required` stays suspended
   * and waits for its client.
   */
  leave(): void;
}

/** Shared by the exchanges of a door. */
export interface ModernExchangeHost {
  readonly open: (input: Readable, output: Writable) => RequestConnection;
  readonly log: Logger;
  readonly timeouts: HttpTimeouts;
  /** The exchange has ended. */
  readonly left: (exchange: ModernExchange) => void;
}

/** The limit for unsent data of one exchange, in bytes. */
const WAITING_BYTES = 32 * 1024 * 1024;
const BRACE = 0x7b;

/**
 * One POST of a modern client, until it is answered: with JSON if the answer comes first, else with an event stream that
 * ends with the answer. A client that disconnects has cancelled its request.
 */
export class ModernExchange {
  readonly #host: ModernExchangeHost;
  readonly #response: ServerResponse;
  readonly #pipe: BytePipe;
  readonly #connection: RequestConnection;
  /** Whether the request has the `_meta` members that the era requires. */
  readonly #complete: boolean;
  /** Whether the method is one of ours, so that "method not found" comes from the server and is a plain answer. */
  readonly #known: boolean;
  /** Whether it is a subscription, which waits for notifications and not for an answer. */
  readonly #listens: boolean;
  readonly #openedAt = performance.now();
  #streaming = false;
  #answered = false;
  #closed = false;
  #sentAt = 0;
  #given = 0;
  #taken = 0;
  #takenAt = performance.now();
  #onAnswered: (() => void)[] = [];

  constructor(request: Message, response: ServerResponse, host: ModernExchangeHost) {
    this.#host = host;
    this.#response = response;
    this.#complete =
      isModernVersion(request.string(Client.version)) && request.lead(Client.capabilities) === BRACE;
    const method = request.string(Client.method)!;
    this.#known = RELAYED.has(method);
    this.#listens = this.#complete && method === 'subscriptions/listen';
    this.#pipe = new BytePipe({
      line: (message) => this.#deliver(message),
      broken: (why) => this.#giveUp(why),
    });
    this.#connection = host.open(this.#pipe.input, this.#pipe.output);
    response.on('close', () => this.close());
    // A subscription may be silent for long; the headers show that it was accepted.
    if (this.#listens) this.#becomeStream();
    this.#pipe.take(request);
  }

  /** Resolves when it is answered or cancelled; at once for a subscription. */
  idle(): Promise<void> {
    if (this.#listens || this.#answered || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#onAnswered.push(resolve));
  }

  /** Answers it now, with an error if need be. */
  failAll(): void {
    this.#connection.failAll();
  }

  /** Resolves when the answer is sent, or cannot be. */
  flushed(): Promise<void> {
    if (this.#closed || this.#response.writableFinished) return Promise.resolve();
    return new Promise((resolve) => {
      this.#response.on('finish', resolve).on('close', resolve);
    });
  }

  /** Applies the timeouts. */
  tick(now: number): void {
    const { silenceMs, keepAliveMs, stallMs } = this.#host.timeouts;
    const waiting = this.#response.writableLength;
    const taken = this.#given - waiting;
    // Before the answer some data may wait; after it no write follows that would move it.
    if (waiting <= (this.#answered ? 0 : BACKED_UP_BYTES) || taken > this.#taken) this.#takenAt = now;
    this.#taken = taken;
    if (now - this.#takenAt > stallMs) this.#giveUp('its client does not read its messages');
    else if (waiting + this.#pipe.output.writableLength > WAITING_BYTES)
      this.#giveUp('too much data is waiting for its client');
    else if (this.#answered) return;
    else if (!this.#streaming && now - this.#openedAt >= silenceMs) this.#becomeStream();
    else if (this.#streaming && waiting === 0 && now - this.#sentAt >= keepAliveMs) {
      this.#response.write(COMMENT);
      this.#sent(this.#response, COMMENT.length);
    }
  }

  /** Ends it, answered or not. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#host.left(this);
    this.#connection.leave();
    this.#pipe.close();
    this.#settled();
  }

  #deliver(message: Message): void {
    if (this.#closed || this.#answered || isDisconnected(this.#response)) return;
    if (!message.has(Server.method)) this.#answer(message);
    // A modern client gets no requests: input is requested in the answer.
    else if (!message.has(Server.id)) {
      this.#becomeStream();
      writeEvent(this.#response, message, this.#sent);
    }
  }

  #answer(message: Message): void {
    this.#answered = true;
    const response = this.#response;
    if (this.#streaming) {
      writeEvent(response, message, this.#sent);
      response.end();
    } else {
      const { bytes, length } = message;
      response.writeHead(this.#statusOf(message), { 'Content-Type': JSON_TYPE, 'Content-Length': length });
      response.cork();
      for (const view of viewsOf(bytes, bytes.from, bytes.to)) response.write(view);
      response.end();
      response.uncork();
      this.#sent(response, length);
    }
    this.#settled();
  }

  /** The HTTP status of an answer: protocol errors are HTTP errors too; errors of a tool or server are not. */
  #statusOf(answer: Message): number {
    if (!answer.has(Server.error)) return 200;
    if (!this.#complete) return 400;
    const error = answer.lead(Server.error) === BRACE ? answer.text(Server.error)! : '{}';
    const code = Number(memberText(error, 'code'));
    // Clients take a 404 for a transport error and ignore the body.
    return code === RpcCode.methodNotFound && this.#known ? 200 : (STATUSES.get(code) ?? 200);
  }

  #becomeStream(): void {
    if (this.#streaming || isDisconnected(this.#response)) return;
    this.#streaming = true;
    this.#sentAt = performance.now();
    beginEvents(this.#response);
  }

  readonly #sent = (response: ServerResponse, bytes: number): void => {
    this.#sentAt = performance.now();
    this.#given += bytes;
    this.#pipe.waitFor(response);
  };

  #settled(): void {
    for (const listener of this.#onAnswered.splice(0)) listener();
  }

  #giveUp(why: string): void {
    if (this.#closed) return;
    this.#host.log.warn('closed an HTTP exchange', { why });
    this.#response.destroy();
    // A pipelined response gets no close event.
    this.close();
  }
}

/** Methods that we relay; an error of the server is its answer. */
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
