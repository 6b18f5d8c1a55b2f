import type { ServerResponse } from 'node:http';
import { Client } from '../../protocol/index.ts';
import { idKey, type Message, type SerializedMessage } from '../../wire/index.ts';
import { EventLog, readCursor, type Cursor } from './event-log.ts';
import { beginEvents, EventStream } from './event-stream.ts';
import { OpenPosts } from './open-posts.ts';
import { replyEmpty } from './reply.ts';
import { SessionExchange, type BatchedExchange } from './session-exchange.ts';
import { HttpSession, versionIn, type HttpSessionHost } from './session.ts';
import { UndeliveredMessages } from './undelivered.ts';

/** The number of the GET stream; the others carry answers to requests. */
const LISTENING = 0;
/** From this version on, clients accept an event without data. */
const FIRST_PRIMED = '2025-11-25';

/** A client of the Streamable HTTP transport. Decides which of its streams a message goes to. */
export class StreamableSession extends HttpSession {
  readonly #posts = new OpenPosts();
  readonly #log: EventLog;
  readonly #undelivered = new UndeliveredMessages();
  #listening: EventStream | undefined;
  #streams = LISTENING;
  #primes = false;
  /** The POST with initialize, until it is answered. */
  #initialize: SessionExchange | undefined;
  readonly #openStream = (): EventStream => this.#newStream(++this.#streams);

  constructor(host: HttpSessionHost, gatewayPath: readonly string[]) {
    super(host, gatewayPath);
    this.#log = new EventLog(host.events);
  }

  /** Takes the initialize request. Its answer carries the session id; on an error there is no session. */
  begin(initialize: Message, response: ServerResponse): void {
    const exchange = this.#open(initialize, response, false);
    this.#initialize = exchange;
    response.on('close', () => {
      if (response.writableFinished) return;
      // The client has not received the session id.
      this.initialized = false;
      void this.close();
    });
    this.take(initialize);
  }

  /** Takes any other message of the client. */
  receive(message: Message, response: ServerResponse): void {
    if (message.has(Client.method) && message.has(Client.id)) {
      const exchange = this.#open(message, response, true);
      // Before the message is handled: the answer ends the exchange.
      for (const undelivered of this.#undelivered.takeAnywhere()) exchange.send(undelivered);
      this.take(message);
      return;
    }
    replyEmpty(response, 202);
    this.take(message);
    this.#withdraw(message);
  }

  /** Several messages in one POST. Where there are requests, one stream carries all their answers. */
  receiveBatch(messages: readonly Message[], response: ServerResponse): void {
    const requests = messages.filter((message) => message.has(Client.method) && message.has(Client.id));
    if (requests.length === 0) {
      replyEmpty(response, 202);
      for (const message of messages) this.take(message);
    } else {
      const stream = this.#openStream();
      stream.attach(response);
      const batch = { stream, open: requests.length };
      for (const request of requests) this.#open(request, response, true, batch);
      for (const message of messages) this.take(message);
    }
    for (const message of messages) this.#withdraw(message);
  }

  #withdraw(message: Message): void {
    if (message.string(Client.method) !== 'notifications/cancelled') return;
    const cancelled = message.text(Client.requestId);
    if (cancelled !== undefined) this.#posts.takeCancelled(idKey(cancelled))?.withdraw();
  }

  /** Opens the GET stream, or resumes a stream after the event that the client saw last. */
  listen(response: ServerResponse, lastEventId: string | undefined): void {
    const cursor = readCursor(lastEventId);
    if (cursor !== undefined && cursor.stream !== LISTENING && cursor.stream <= this.#streams) {
      const open = this.#posts.onStream(cursor.stream)?.stream;
      if (open) {
        open.attach(response, cursor.event);
        for (const message of this.#undelivered.takeAnywhere()) open.send(message);
        return;
      }
      this.#replay(cursor, response);
      return;
    }
    this.#listening ??= this.#newStream(LISTENING);
    this.#listening.attach(response, cursor?.stream === LISTENING ? cursor.event : undefined);
    for (const message of this.#undelivered.takeAll()) this.#listening.send(message);
  }

  protected override get connected(): boolean {
    return this.#posts.size > 0 || this.#listening?.attached === true;
  }

  protected override deliverAnswer(id: string, answer: SerializedMessage, failed: boolean): void {
    const exchange = this.#posts.takeAnswered(idKey(id));
    if (exchange === undefined) return;
    if (exchange !== this.#initialize) exchange.answer(answer);
    else this.#initialized(exchange, answer, failed);
  }

  /** A request may belong to any running request of the client. */
  protected override deliverRequest(request: SerializedMessage): void {
    this.#sendAnywhere(request);
  }

  protected override deliverNotification(
    notification: SerializedMessage,
    method: string | undefined,
    token: string | undefined,
  ): void {
    const exchange = token === undefined ? undefined : this.#posts.withToken(idKey(token));
    if (exchange) exchange.send(notification);
    // A cancellation follows the request that it cancels.
    else if (method === 'notifications/message' || method === 'notifications/cancelled')
      this.#sendAnywhere(notification);
    else this.#sendListening(notification, false);
  }

  protected override finish(): void {
    for (const exchange of this.#posts.takeAll()) exchange.abandon();
    this.#listening?.end();
    this.#log.clear();
  }

  protected override attend(now: number): void {
    const { silenceMs, keepAliveMs, resumeMs } = this.host.timeouts;
    for (const exchange of this.#posts.all()) {
      if (now - exchange.openedAt >= silenceMs) exchange.becomeStream();
      exchange.stream?.keepAlive(now, keepAliveMs);
    }
    this.#listening?.keepAlive(now, keepAliveMs);
    this.#log.dropBefore(now - resumeMs, (stream) => this.#posts.onStream(stream) !== undefined);
  }

  #open(
    request: Message,
    response: ServerResponse,
    mayStream: boolean,
    batch?: BatchedExchange,
  ): SessionExchange {
    const exchange = new SessionExchange(request, response, {
      unsent: this.unsent,
      openStream: mayStream ? this.#openStream : undefined,
      batch,
    });
    this.#posts.add(exchange);
    return exchange;
  }

  /** Replays the rest of a stream that has ended. */
  #replay(cursor: Cursor, response: ServerResponse): void {
    const rest = this.#log.after(cursor);
    if (rest.length === 0) {
      // 204 ends the retries. After an empty stream, clients would reconnect again and again.
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

  #newStream(number: number): EventStream {
    return new EventStream(this.unsent, { number, log: this.#log, primes: this.#primes });
  }

  #initialized(exchange: SessionExchange, answer: SerializedMessage, failed: boolean): void {
    this.#initialize = undefined;
    if (failed) {
      exchange.answer(answer);
      void this.close();
      return;
    }
    this.version = versionIn(answer);
    this.#primes = this.version !== undefined && this.version >= FIRST_PRIMED;
    this.initialized = true;
    exchange.answer(answer, { 'Mcp-Session-Id': this.id });
  }

  /** Sends a message that may belong to any running request, on the newest stream. */
  #sendAnywhere(message: SerializedMessage): void {
    const exchange = this.#posts.youngestCarrier();
    if (exchange) exchange.send(message);
    else this.#sendListening(message, true);
  }

  #sendListening(message: SerializedMessage, anywhere: boolean): void {
    if (this.#listening?.attached) this.#listening.send(message);
    else this.#undelivered.add(message, anywhere);
  }
}
