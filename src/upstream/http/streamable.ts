import type { IncomingMessage } from 'node:http';
import { Envelope, type Message } from '../../wire/index.ts';
import type { TransportEnd } from '../transport.ts';
import { tagged } from '../stream-tag.ts';
import { PendingPost, type PostOutcome } from './pending-post.ts';
import { EventStreamParser } from './event-stream.ts';
import { discard, HttpRequest, typeOf } from './http-request.ts';
import { broken, noHttpAnswer, notConnected, httpStartFailed, serverUnreachable } from './failures.ts';
import { agreedVersion, answeredId, readIncoming } from './incoming.ts';
import { GetStream } from './get-stream.ts';
import { modernHeaders } from './modern-headers.ts';
import type { Outgoing } from './outgoing-stream.ts';
import { NOTIFICATION_TIMEOUT_MS, type HttpTransport, type HttpTransportContext } from './http-transport.ts';

/** How long others may take to be answered, or refused as well, once the session is gone, in milliseconds. */
const LAST_NEWS = 2000;
/** How long the server may take over our farewell, in milliseconds. */
const FAREWELL = 1000;

/** Streamable HTTP: every message is a POST, and what it brings back is an answer or a stream of events. */
export class Streamable implements HttpTransport {
  readonly #context: HttpTransportContext;
  readonly #calls = new Map<number, PendingPost>();
  readonly #tellings = new Set<HttpRequest>();
  #listening: GetStream | undefined;
  #state: 'open' | 'forgotten' | 'over' = 'open';
  #lastNews: NodeJS.Timeout | undefined;
  /** The session still exists, as far as we know. */
  #known = true;
  /** The era that was initialized in last: a modern server has no session and no stream of its own. */
  #modern = false;

  constructor(context: HttpTransportContext) {
    this.#context = context;
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  async send(message: Outgoing): Promise<void> {
    if (this.#state !== 'open') {
      message.sent();
      if (message.id > 0) this.#context.events.unanswered(message.id, { kind: 'not-taken' });
      return;
    }
    const cancelled = this.#calls.get(message.cancels);
    if (message.id > 0) this.#ask(message);
    else if (this.#modern) {
      // Nothing but requests goes to a modern server, and one is cancelled by not listening to it any more.
      message.sent();
      cancelled?.drop();
    } else if (cancelled === undefined) await this.#tell(message);
    else await this.#cancel(message, cancelled);
  }

  async stop(): Promise<void> {
    const { endpoint } = this.#context;
    this.#finish();
    if (endpoint.session === undefined || !this.#known) return;
    const { outcome } = new HttpRequest(endpoint, { method: 'DELETE', timeoutMs: FAREWELL });
    await outcome;
  }

  #ask(message: Outgoing): void {
    const first = message.method === 'initialize';
    const modernFirst = message.method === 'server/discover';
    if (first || modernFirst) this.#begin(modernFirst);
    const options = this.#modern
      ? { headers: modernHeaders(message, this.#context.headers), resumable: false }
      : undefined;
    const asking = new PendingPost(
      message,
      this.#context,
      {
        othersServed: () => this.#othersServed(message.id),
        accepted: (response) => {
          if (first) this.#context.endpoint.session = sessionOf(response);
        },
        arrived: (arrived) => {
          if (first && answeredId(arrived) === message.id) {
            this.#context.endpoint.version = agreedVersion(arrived);
            this.#context.events.suits();
          }
          if (modernFirst && answeredId(arrived) === message.id && arrived.has(Envelope.result))
            this.#context.events.suits();
          const log = this.#modern && arrived.string(Envelope.method) === 'notifications/message';
          this.#arrived(log ? tagged(arrived, message.id) : arrived);
        },
        settled: (end) => this.#settled(message, end),
      },
      options,
    );
    this.#calls.set(message.id, asking);
  }

  /** The handshake decides how everything behind it is sent. */
  #begin(modern: boolean): void {
    const { endpoint } = this.#context;
    this.#modern = modern;
    endpoint.session = endpoint.version = undefined;
  }

  #arrived(message: Message): void {
    this.#calls.get(answeredId(message))?.answered();
    this.#context.incomingStream.put(message);
  }

  #settled(message: Outgoing, end: PostOutcome): void {
    const { id } = message;
    const { endpoint, events } = this.#context;
    this.#calls.delete(id);
    switch (end.kind) {
      case 'answered':
      case 'dropped':
        break;
      case 'forgotten':
        if (this.#state !== 'over') events.unanswered(id, end.failure);
        this.#forget();
        break;
      case 'unsuitable':
        events.unsuitable(message, end.refusal);
        break;
      case 'unreachable':
        if (message.method === 'initialize' || message.method === 'server/discover')
          events.unanswered(id, { kind: 'failed', error: httpStartFailed(endpoint, end.cause) });
        // A listening stream retries for as long as it has subscribers; only a call needs to know that the server is gone.
        else if (message.method === 'subscriptions/listen')
          events.unanswered(id, { kind: 'failed', error: broken(endpoint, end.cause) });
        else if (this.#state === 'open' && this.#othersServed(id))
          events.unanswered(id, { kind: 'failed', error: notConnected(endpoint, end.cause) });
        else {
          events.unanswered(id, { kind: 'not-taken' });
          this.#lose(end.cause);
        }
        break;
      default:
        events.unanswered(id, end);
    }
    this.#maybeForgotten();
  }

  /** Whether calls but this one are with the server. They have their own connections, and must not end with another's. */
  #othersServed(id: number): boolean {
    return [...this.#calls].some(([other, asking]) => other !== id && asking.served);
  }

  /** Sends what has no answer. Resolves when the server has taken it or never will. */
  async #tell(message: Outgoing): Promise<void> {
    const { endpoint, log } = this.#context;
    const hadSession = endpoint.session !== undefined;
    const accept = 'application/json, text/event-stream';
    const httpRequest = new HttpRequest(endpoint, {
      method: 'POST',
      accept,
      body: message.body,
      timeoutMs: NOTIFICATION_TIMEOUT_MS,
    });
    this.#tellings.add(httpRequest);
    void httpRequest.sent.then(() => message.sent());
    const outcome = await httpRequest.outcome;
    this.#tellings.delete(httpRequest);
    if (this.#state === 'over' || outcome.kind === 'dropped') {
      httpRequest.drop();
      return;
    }
    if (outcome.kind !== 'answered') {
      const reason = outcome.kind === 'refused' ? outcome.error.message : outcome.kind;
      log.warn('rejected a message', { server: endpoint.server, method: message.method, reason });
      return;
    }
    const { response, status } = outcome;
    if (status >= 200 && status <= 299) {
      if (typeOf(response) === 'text/event-stream') this.#readAside(response);
      else discard(response);
      if (message.method === 'notifications/initialized') this.#listen();
      return;
    }
    discard(response);
    if (status === 404 && hadSession) this.#forget();
    else log.warn('rejected a message', { server: endpoint.server, method: message.method, status });
  }

  /** Events that came where none were due. */
  #readAside(response: IncomingMessage): void {
    const stream = new EventStreamParser(this.#context.messageBytes, {
      event: (type, data) => {
        if (type === 'message') for (const message of readIncoming(data) ?? []) this.#arrived(message);
      },
      oversize: () => response.destroy(),
    });
    const timer = setTimeout(() => response.destroy(), NOTIFICATION_TIMEOUT_MS);
    this.#context.incomingStream.read(response, {
      data: (chunk) => stream.push(chunk),
      ended: () => clearTimeout(timer),
    });
  }

  /** A cancellation goes behind what it cancels, and is the last we want to hear of it. */
  async #cancel(message: Outgoing, asking: PendingPost): Promise<void> {
    if (asking.connected) {
      await asking.taken();
      await this.#tell(message);
    } else message.sent();
    asking.drop();
  }

  #listen(): void {
    if (this.#state !== 'open' || this.#listening !== undefined) return;
    this.#listening = new GetStream(this.#context, {
      arrived: (message) => this.#arrived(message),
      forgotten: () => this.#forget(),
    });
  }

  /** The server does not know our session any more. Others are about to hear the same, or their answer is on its way. */
  #forget(): void {
    this.#known = false;
    if (this.#state !== 'open') return;
    this.#state = 'forgotten';
    this.#listening?.stop();
    this.#context.events.closed();
    this.#lastNews = setTimeout(() => this.#end({ kind: 'forgotten' }), LAST_NEWS);
    this.#maybeForgotten();
  }

  #maybeForgotten(): void {
    if (this.#state !== 'forgotten') return;
    if (this.#calls.size === 0) this.#end({ kind: 'forgotten' });
  }

  /** No connection can be made any more, and nobody has one. */
  #lose(cause: unknown): void {
    this.#known = false;
    if (this.#state !== 'open') return;
    this.#state = 'forgotten';
    this.#context.events.closed();
    this.#end({ kind: 'lost', how: serverUnreachable(this.#context.endpoint, cause) });
  }

  #end(end: TransportEnd): void {
    if (this.#state === 'over') return;
    const { endpoint, events } = this.#context;
    const left = [...this.#calls];
    this.#finish();
    const how = end.kind === 'lost' ? end.how : 'lost the session before it responded';
    const error = noHttpAnswer(endpoint, how);
    for (const [id, { connected }] of left)
      events.unanswered(id, connected ? { kind: 'failed', error } : { kind: 'not-taken' });
    events.ended(end);
  }

  #finish(): void {
    this.#state = 'over';
    clearTimeout(this.#lastNews);
    this.#listening?.stop();
    for (const asking of [...this.#calls.values()]) asking.drop();
    for (const telling of this.#tellings) telling.drop();
  }
}

/** The session that the server gave us with its answer; only what may stand in a header. */
function sessionOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['mcp-session-id'];
  return typeof given === 'string' && /^[\x21-\x7e]+$/.test(given) ? given : undefined;
}
