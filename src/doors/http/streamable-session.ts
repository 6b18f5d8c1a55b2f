import type { ServerResponse } from 'node:http';
import { Client, Server, SERVER_SHAPE } from '../../protocol/index.ts';
import { editedText, idKey, Message } from '../../wire/index.ts';
import { EventLog, readCursor, type Cursor } from './event-log.ts';
import { beginEvents, ResumableStream } from './event-stream.ts';
import { HttpExchange, type BatchedExchange } from './exchange.ts';
import { UndeliveredMessages } from './undelivered.ts';
import { OpenPosts } from './open-posts.ts';
import { replyEmpty } from './reply.ts';
import { HttpSession, versionIn, type HttpSessionHost } from './session.ts';

/** The number of the GET stream; the others carry answers to requests. */
const LISTENING = 0;
/** From this version on, clients accept an event without data. */
const FIRST_PRIMED = '2025-11-25';

/** A client of the Streamable HTTP transport. Decides which of its streams a message goes to. */
export class StreamableSession extends HttpSession {
  readonly #posts = new OpenPosts();
  readonly #log: EventLog;
  readonly #undelivered = new UndeliveredMessages();
  #listening: ResumableStream | undefined;
  #streams = LISTENING;
  #primes = false;
  /** The POST with initialize, until it is answered. */
  #initialize: HttpExchange | undefined;

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
      this.take(message);
      for (const undelivered of this.#undelivered.takeAnywhere()) exchange.send(undelivered);
      return;
    }
    this.take(message);
    replyEmpty(response, 202);
    this.#withdraw(message);
  }

  /** Several messages in one POST. Where there are requests, one stream carries all their answers. */
  receiveBatch(messages: readonly Message[], response: ServerResponse): void {
    const requests = messages.filter((message) => message.has(Client.method) && message.has(Client.id));
    if (requests.length === 0) {
      for (const message of messages) this.take(message);
      replyEmpty(response, 202);
    } else {
      const stream = this.#newStream(++this.#streams);
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

  protected override deliver(message: Message): void {
    if (!message.has(Server.method)) {
      this.#answer(message);
      return;
    }
    if (message.has(Server.id)) {
      this.#sendAnywhere(message);
      return;
    }
    const method = message.string(Server.method);
    // A cancellation follows the request that it cancels.
    if (method === 'notifications/message' || method === 'notifications/cancelled')
      this.#sendAnywhere(message);
    else if (method === 'notifications/progress') this.#progress(message);
    else this.#sendListening(message, false);
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
  ): HttpExchange {
    const exchange = new HttpExchange({
      batch,
      response,
      id: request.text(Client.id)!,
      size: request.length,
      token: request.text(Client.progressToken),
      openStream: mayStream ? () => this.#newStream(++this.#streams) : undefined,
      sent: this.sent,
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
      this.sent(response, event.length);
    }
    response.end();
  }

  #newStream(number: number): ResumableStream {
    return new ResumableStream({ number, log: this.#log, primes: this.#primes, sent: this.sent });
  }

  #answer(message: Message): void {
    const id = message.text(Server.id);
    if (id === 'null' && message.has(Server.error)) this.#refused(message);
    else if (id !== undefined) this.#answerExchange(this.#posts.takeAnswered(idKey(id)), message);
  }

  /**
   * The core has refused a message without its id, because it was too large to read. So it is the largest of the pending
   * requests: those that the core has accepted are all smaller.
   */
  #refused(refusal: Message): void {
    const exchange = this.#posts.takeLargest();
    if (exchange === undefined) return;
    const edit = { start: refusal.start(Server.id), end: refusal.end(Server.id), with: exchange.id };
    this.#answerExchange(exchange, Message.fromText(editedText(refusal, [edit]), SERVER_SHAPE));
  }

  #answerExchange(exchange: HttpExchange | undefined, answer: Message): void {
    if (exchange === undefined) return;
    if (exchange !== this.#initialize) exchange.answer(answer);
    else this.#initialized(exchange, answer);
  }

  #initialized(exchange: HttpExchange, answer: Message): void {
    this.#initialize = undefined;
    if (answer.has(Server.error)) {
      exchange.answer(answer);
      void this.close();
      return;
    }
    this.version = versionIn(answer);
    this.#primes = this.version !== undefined && this.version >= FIRST_PRIMED;
    this.initialized = true;
    exchange.answer(answer, { 'Mcp-Session-Id': this.id });
  }

  #progress(message: Message): void {
    const token = message.text(Server.progressToken);
    const exchange = token === undefined ? undefined : this.#posts.withToken(idKey(token));
    if (exchange) exchange.send(message);
    else this.#sendListening(message, false);
  }

  /** Sends a message that may belong to any running request, on the newest stream. */
  #sendAnywhere(message: Message): void {
    const exchange = this.#posts.youngestCarrier();
    if (exchange) exchange.send(message);
    else this.#sendListening(message, true);
  }

  #sendListening(message: Message, anywhere: boolean): void {
    if (this.#listening?.attached) this.#listening.send(message);
    else this.#undelivered.add(message, anywhere);
  }
}
