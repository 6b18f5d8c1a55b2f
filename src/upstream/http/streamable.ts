import type { IncomingMessage } from 'node:http';
import { Envelope, type Message } from '../../wire/index.ts';
import type { LinkEnd } from '../link.ts';
import { tagged } from '../stream-tag.ts';
import { Asking, type Settled } from './asking.ts';
import { EventStream } from './event-stream.ts';
import { discard, Exchange, typeOf } from './exchange.ts';
import { broken, noAnswer, notConnected, notStarted, unreachable } from './failures.ts';
import { agreedVersion, answeredId, readIncoming } from './incoming.ts';
import { Listening } from './listening.ts';
import { modernHeaders } from './modern-headers.ts';
import type { Outgoing } from './outlet.ts';
import { TELL_PATIENCE, type Transport, type TransportContext } from './transport.ts';

/** How long others may take to be answered, or refused as well, once the session is gone, in milliseconds. */
const LAST_NEWS = 2000;
/** How long the server may take over our farewell, in milliseconds. */
const FAREWELL = 1000;

/** Streamable HTTP: every message is a POST, and what it brings back is an answer or a stream of events. */
export class Streamable implements Transport {
  readonly #context: TransportContext;
  readonly #calls = new Map<number, Asking>();
  readonly #tellings = new Set<Exchange>();
  #listening: Listening | undefined;
  #state: 'open' | 'forgotten' | 'over' = 'open';
  #lastNews: NodeJS.Timeout | undefined;
  /** The session still exists, as far as we know. */
  #known = true;
  /** The era that was greeted in last: a modern server has no session and no stream of its own. */
  #modern = false;

  constructor(context: TransportContext) {
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
    const { site } = this.#context;
    this.#finish();
    if (site.session === undefined || !this.#known) return;
    const { outcome } = new Exchange(site, { method: 'DELETE', patience: FAREWELL });
    await outcome;
  }

  #ask(message: Outgoing): void {
    const first = message.method === 'initialize';
    const modernFirst = message.method === 'server/discover';
    if (first || modernFirst) this.#begin(modernFirst);
    const options = this.#modern
      ? { headers: modernHeaders(message, this.#context.headers), resumable: false }
      : undefined;
    const asking = new Asking(
      message,
      this.#context,
      {
        othersServed: () => this.#othersServed(message.id),
        accepted: (response) => {
          if (first) this.#context.site.session = sessionOf(response);
        },
        arrived: (arrived) => {
          if (first && answeredId(arrived) === message.id) {
            this.#context.site.version = agreedVersion(arrived);
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

  /** A greeting decides how everything behind it is sent. */
  #begin(modern: boolean): void {
    const { site } = this.#context;
    this.#modern = modern;
    site.session = site.version = undefined;
  }

  #arrived(message: Message): void {
    this.#calls.get(answeredId(message))?.answered();
    this.#context.inlet.put(message);
  }

  #settled(message: Outgoing, end: Settled): void {
    const { id } = message;
    const { site, events } = this.#context;
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
          events.unanswered(id, { kind: 'failed', error: notStarted(site, end.cause) });
        // Whoever listens tries again for as long as anybody cares; only a call has to know that nobody is there.
        else if (message.method === 'subscriptions/listen')
          events.unanswered(id, { kind: 'failed', error: broken(site, end.cause) });
        else if (this.#state === 'open' && this.#othersServed(id))
          events.unanswered(id, { kind: 'failed', error: notConnected(site, end.cause) });
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
    const { site, log } = this.#context;
    const hadSession = site.session !== undefined;
    const accept = 'application/json, text/event-stream';
    const exchange = new Exchange(site, {
      method: 'POST',
      accept,
      body: message.body,
      patience: TELL_PATIENCE,
    });
    this.#tellings.add(exchange);
    void exchange.sent.then(() => message.sent());
    const outcome = await exchange.outcome;
    this.#tellings.delete(exchange);
    if (this.#state === 'over' || outcome.kind === 'dropped') {
      exchange.drop();
      return;
    }
    if (outcome.kind !== 'answered') {
      const reason = outcome.kind === 'refused' ? outcome.error.message : outcome.kind;
      log.warn('did not take a message', { server: site.server, method: message.method, reason });
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
    else log.warn('did not take a message', { server: site.server, method: message.method, status });
  }

  /** Events that came where none were due. */
  #readAside(response: IncomingMessage): void {
    const stream = new EventStream(this.#context.messageBytes, {
      event: (type, data) => {
        if (type === 'message') for (const message of readIncoming(data) ?? []) this.#arrived(message);
      },
      oversize: () => response.destroy(),
    });
    const timer = setTimeout(() => response.destroy(), TELL_PATIENCE);
    this.#context.inlet.read(response, {
      data: (chunk) => stream.push(chunk),
      ended: () => clearTimeout(timer),
    });
  }

  /** A cancellation goes behind what it cancels, and is the last we want to hear of it. */
  async #cancel(message: Outgoing, asking: Asking): Promise<void> {
    if (asking.connected) {
      await asking.taken();
      await this.#tell(message);
    } else message.sent();
    asking.drop();
  }

  #listen(): void {
    if (this.#state !== 'open' || this.#listening !== undefined) return;
    this.#listening = new Listening(this.#context, {
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
    this.#end({ kind: 'lost', how: unreachable(this.#context.site, cause) });
  }

  #end(end: LinkEnd): void {
    if (this.#state === 'over') return;
    const { site, events } = this.#context;
    const left = [...this.#calls];
    this.#finish();
    const how = end.kind === 'lost' ? end.how : 'has forgotten the session before it had answered';
    const error = noAnswer(site, how);
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
