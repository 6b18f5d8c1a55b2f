import type { ServerResponse } from 'node:http';
import { Client } from '../../protocol/index.ts';
import { idKey, type Message, type SerializedMessage } from '../../wire/index.ts';
import { isBatch, type PostedMessage } from './body.ts';
import { EventLog, readCursor, type Cursor } from './event-log.ts';
import { beginEvents, EventStream } from './event-stream.ts';
import { SessionExchange } from './exchange.ts';
import { replyEmpty } from './reply.ts';
import type { Caller } from './caller.ts';
import { HttpSession, type HttpSessionHost } from './session.ts';
import { UndeliveredMessages } from './undelivered.ts';
import { LinkedSet } from '../../shared/linked-set.ts';

/** The number of the GET stream; the others carry answers to requests. */
const LISTENING = 0;
/** Since this version, clients accept an event without data. */
const FIRST_PRIMED = '2025-11-25';

/** A client of the Streamable HTTP transport. Decides which of its streams a message goes to. */
export class StreamableSession extends HttpSession {
  /** The POSTs that wait for an answer. */
  readonly #posts = new LinkedSet<SessionExchange>();
  readonly #log: EventLog;
  readonly #undelivered = new UndeliveredMessages();
  #listening: EventStream | undefined;
  #streams = LISTENING;
  readonly #openStream = (): EventStream => this.#newStream(++this.#streams);

  constructor(host: HttpSessionHost, caller: Caller, gatewayPath: readonly string[]) {
    super(host, caller, gatewayPath);
    this.#log = new EventLog(host.events);
  }

  /** Handles the initialize request. Its answer carries the session id; if it is an error, there is no session. */
  begin(initialize: Message, response: ServerResponse): void {
    this.#posts.add(new SessionExchange(initialize, response, this.unsent, undefined));
    response.on('close', () => {
      if (response.writableFinished) return;
      // The client did not receive the session id.
      this.initialized = false;
      void this.close();
    });
    this.take(initialize);
  }

  /** Handles any other message of the client. */
  receive(posted: PostedMessage, response: ServerResponse): void {
    if (isBatch(posted)) this.#receiveBatch(posted, response);
    else if (isRequest(posted)) {
      const exchange = this.#open(posted, response);
      // Done before the message is handled, because the answer ends the exchange.
      for (const undelivered of this.#undelivered.take('related')) exchange.send(undelivered);
      this.take(posted);
    } else {
      replyEmpty(response, 202);
      this.take(posted);
      this.#withdraw(posted);
    }
  }

  /** Handles several messages in one POST. If they include requests, one stream carries all the answers. */
  #receiveBatch(messages: readonly Message[], response: ServerResponse): void {
    const requests = messages.filter(isRequest);
    if (requests.length === 0) replyEmpty(response, 202);
    else {
      const stream = this.#newStream(++this.#streams, requests.length);
      stream.attach(response);
      for (const request of requests) this.#open(request, response, stream);
    }
    for (const message of messages) this.take(message);
    for (const message of messages) this.#withdraw(message);
  }

  #withdraw(message: Message): void {
    if (message.string(Client.method) !== 'notifications/cancelled') return;
    const cancelled = message.text(Client.requestId);
    const key = cancelled === undefined ? undefined : idKey(cancelled);
    const exchange = this.#posts.find(({ id }) => id === key);
    if (exchange && this.#posts.remove(exchange)) exchange.withdraw();
  }

  /** Whether a request with this id, given as JSON text, is waiting for its answer. */
  isRunning(id: string): boolean {
    const key = idKey(id);
    return this.#posts.find((post) => post.id === key) !== undefined;
  }

  /** Opens the GET stream, or resumes a stream after the last event that the client saw. */
  listen(response: ServerResponse, lastEventId: string | undefined): void {
    const cursor = readCursor(lastEventId);
    if (cursor !== undefined && cursor.stream !== LISTENING && cursor.stream <= this.#streams) {
      const open = this.#onStream(cursor.stream)?.stream;
      if (open) {
        open.attach(response, cursor.event);
        for (const message of this.#undelivered.take('related')) open.send(message);
        return;
      }
      this.#replay(cursor, response);
      return;
    }
    this.#listening ??= this.#newStream(LISTENING);
    this.#listening.attach(response, cursor?.stream === LISTENING ? cursor.event : undefined);
    for (const message of this.#undelivered.take('all')) this.#listening.send(message);
  }

  protected override get connected(): boolean {
    return this.#posts.size > 0 || this.#listening?.attached === true;
  }

  protected override deliverAnswer(id: string, answer: SerializedMessage, failed: boolean): void {
    const key = idKey(id);
    const exchange = this.#posts.find((post) => post.id === key);
    if (exchange === undefined) return;
    this.#posts.remove(exchange);
    if (this.initialized) exchange.answer(answer);
    else if (failed) {
      exchange.answer(answer);
      void this.close();
    } else {
      this.initialized = true;
      exchange.answer(answer, { 'Mcp-Session-Id': this.id });
    }
  }

  protected override deliver(message: SerializedMessage, related: boolean, token?: string): void {
    const key = token === undefined ? undefined : idKey(token);
    const exchange = this.#posts.find((post) =>
      key === undefined ? related && post.carries : post.token === key,
    );
    if (exchange) exchange.send(message);
    else if (this.#listening?.attached) this.#listening.send(message);
    else this.#undelivered.add(message, related);
  }

  protected override finish(): void {
    for (const exchange of this.#posts.members()) {
      this.#posts.remove(exchange);
      exchange.abandon();
    }
    this.#listening?.end();
    this.#log.clear();
  }

  protected override attend(now: number): void {
    const { silenceMs, keepAliveMs, resumeMs } = this.host.timeouts;
    for (const exchange of this.#posts.members()) {
      if (now - exchange.openedAt >= silenceMs) exchange.becomeStream();
      exchange.stream?.keepAlive(now, keepAliveMs);
    }
    this.#listening?.keepAlive(now, keepAliveMs);
    this.#log.dropBefore(now - resumeMs, (stream) => this.#onStream(stream) !== undefined);
  }

  #open(request: Message, response: ServerResponse, stream?: EventStream): SessionExchange {
    const exchange = new SessionExchange(request, response, this.unsent, this.#openStream);
    if (stream) exchange.join(stream);
    this.#posts.add(exchange);
    return exchange;
  }

  #onStream(number: number): SessionExchange | undefined {
    return this.#posts.find(({ stream }) => stream?.number === number);
  }

  /** Replays the rest of an ended stream. */
  #replay(cursor: Cursor, response: ServerResponse): void {
    const rest = this.#log.after(cursor);
    if (rest.length === 0) {
      // 204 stops the retries. After an empty stream, clients would reconnect again and again.
      replyEmpty(response, 204);
      return;
    }
    beginEvents(response);
    for (const event of rest) {
      response.write(event);
      this.unsent.sent(response, event.length);
    }
    response.end();
  }

  #newStream(number: number, requests?: number): EventStream {
    const primes = this.version !== undefined && this.version >= FIRST_PRIMED;
    return new EventStream(this.unsent, { number, log: this.#log, primes }, requests);
  }
}

function isRequest(message: Message): boolean {
  return message.has(Client.method) && message.has(Client.id);
}
