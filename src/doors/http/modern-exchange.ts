import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../shared/log.ts';
import { Client, isModernVersion, ModernCode, Server } from '../../protocol/index.ts';
import { memberText, RpcCode, viewsOf, type Message } from '../../wire/index.ts';
import { BACKED_UP_BYTES, BytePipe } from './byte-pipe.ts';
import { beginEvents, COMMENT, writeEvent } from './event-stream.ts';
import { JSON_TYPE } from './media.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { isGone } from './reply.ts';

/** One request of a modern client as the core has it. */
export interface RequestConnection {
  /** Answers what is under way: a request with an error, one that only listens with its end. */
  failAll(): void;
  /**
   * Nobody waits for an answer here any more: what is under way is cancelled. A call that was answered with a question
   * is not under way; it waits for its client.
   */
  leave(): void;
}

/** What the exchanges of a door have in common. */
export interface ModernExchangeHost {
  readonly open: (input: Readable, output: Writable) => RequestConnection;
  readonly log: Logger;
  readonly timeouts: HttpTimeouts;
  /** The exchange is no more. */
  readonly left: (exchange: ModernExchange) => void;
}

/** What may wait for the client of one exchange, in bytes. */
const WAITING_BYTES = 32 * 1024 * 1024;
const BRACE = 0x7b;

/**
 * One POST of a modern client, until it is answered: with JSON if the answer is the first thing to say, else with a
 * stream of events that ends with it. It is all there is between the two: a client that goes away has cancelled.
 */
export class ModernExchange {
  readonly #host: ModernExchangeHost;
  readonly #response: ServerResponse;
  readonly #pipe: BytePipe;
  readonly #connection: RequestConnection;
  /** Whether the request says what every request of the era has to say. */
  readonly #complete: boolean;
  /** Whether a server that does not know the method has misunderstood it, for it is one of ours. */
  readonly #known: boolean;
  /** Whether it waits for no answer, only for what happens meanwhile. */
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
    // Whoever listens may hear nothing for long, and wants to know that we do.
    if (this.#listens) this.#becomeStream();
    this.#pipe.take(request);
  }

  /** Resolves when it is answered, or nobody wants to know any more. One that only listens does not count. */
  idle(): Promise<void> {
    if (this.#listens || this.#answered || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#onAnswered.push(resolve));
  }

  /** Answers it now, with whatever there is to say. */
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

  /** Looks after everything that depends on time. */
  tick(now: number): void {
    const { silenceMs, keepAliveMs, stallMs } = this.#host.timeouts;
    const waiting = this.#response.writableLength;
    const taken = this.#given - waiting;
    // On the way to an answer a little may wait; behind it nothing comes that would move it.
    if (waiting <= (this.#answered ? 0 : BACKED_UP_BYTES) || taken > this.#taken) this.#takenAt = now;
    this.#taken = taken;
    if (now - this.#takenAt > stallMs) this.#giveUp('its client takes nothing of what waits for it');
    else if (waiting + this.#pipe.output.writableLength > WAITING_BYTES)
      this.#giveUp('too much waits for its client');
    else if (this.#answered) return;
    else if (!this.#streaming && now - this.#openedAt >= silenceMs) this.#becomeStream();
    else if (this.#streaming && waiting === 0 && now - this.#sentAt >= keepAliveMs) {
      this.#response.write(COMMENT);
      this.#sent(this.#response, COMMENT.length);
    }
  }

  /** It is over, one way or the other. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#host.left(this);
    this.#connection.leave();
    this.#pipe.close();
    this.#settled();
  }

  #deliver(message: Message): void {
    if (this.#closed || this.#answered || isGone(this.#response)) return;
    if (!message.has(Server.method)) this.#answer(message);
    // Nothing is asked on the way to an answer; what is asked is the answer.
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

  /** Errors of the protocol itself are errors of HTTP as well; those of a tool or a server are answers like any other. */
  #statusOf(answer: Message): number {
    if (!answer.has(Server.error)) return 200;
    if (!this.#complete) return 400;
    const error = answer.lead(Server.error) === BRACE ? answer.text(Server.error)! : '{}';
    const code = Number(memberText(error, 'code'));
    // Clients take a 404 for trouble on the way and look no further.
    return code === RpcCode.methodNotFound && this.#known ? 200 : (STATUSES.get(code) ?? 200);
  }

  #becomeStream(): void {
    if (this.#streaming || isGone(this.#response)) return;
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
    this.#host.log.warn('closed an exchange over HTTP', { why });
    this.#response.destroy();
    // One that waits for an earlier answer on its connection does not hear of that.
    this.close();
  }
}

/** Methods that we have; what a server has to say of one of its own things is its answer. */
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
