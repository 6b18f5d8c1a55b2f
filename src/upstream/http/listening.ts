import type { IncomingMessage } from 'node:http';
import type { Message } from '../../wire/index.ts';
import { EventStream } from './event-stream.ts';
import { discard, Exchange, typeOf, type Outcome } from './exchange.ts';
import { readIncoming } from './incoming.ts';
import { pauseAfter } from './pause.ts';
import type { TransportContext } from './transport.ts';

export interface ListeningEvents {
  arrived(message: Message): void;
  /** The server does not know our session any more. */
  forgotten(): void;
}

/** The stream on which a server speaks without being asked. It is opened again whenever it breaks. */
export class Listening {
  readonly #context: TransportContext;
  readonly #events: ListeningEvents;
  #exchange: Exchange | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  /** Tries in a row that brought no event. */
  #failures = 0;
  /** The server has offered such a stream before. */
  #offered = false;
  #stopped = false;

  constructor(context: TransportContext, events: ListeningEvents) {
    this.#context = context;
    this.#events = events;
    this.#open();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#exchange?.drop();
  }

  #open(): void {
    this.#exchange = new Exchange(this.#context.site, {
      method: 'GET',
      accept: 'text/event-stream',
      lastEventId: this.#lastEventId,
    });
    void this.#exchange.outcome.then((outcome) => this.#opened(outcome));
  }

  #opened(outcome: Outcome): void {
    if (this.#stopped) return;
    const { site, log } = this.#context;
    if (outcome.kind === 'answered') {
      const { response, status } = outcome;
      if (status === 200 && typeOf(response) === 'text/event-stream') {
        this.#read(response);
        return;
      }
      discard(response);
      // A server without this stream often has no route for it either: only where it had one before does a 404 mean
      // that the session is gone.
      if (status === 404 && this.#offered && site.session !== undefined) this.#events.forgotten();
      else if (status >= 500 && status !== 501) this.#again();
      else log.debug('offers no stream of its own', { server: site.server, status });
    } else if (outcome.kind === 'refused')
      log.debug('offers no stream of its own', { server: site.server, reason: outcome.error.message });
    else this.#again();
  }

  #read(response: IncomingMessage): void {
    this.#offered = true;
    const { site, inlet, messageBytes, log } = this.#context;
    const stream = new EventStream(messageBytes, {
      event: (type, data) => {
        if (type !== 'message') return;
        const messages = readIncoming(data);
        if (messages === undefined) log.warn('sent an event that is no message', { server: site.server });
        else for (const message of messages) this.#events.arrived(message);
      },
      oversize: () => log.warn('dropped a message over the limit', { server: site.server }),
    });
    stream.lastEventId = this.#lastEventId;
    inlet.read(response, {
      data: (chunk) => stream.push(chunk),
      ended: () => {
        if (this.#stopped) return;
        this.#lastEventId = stream.lastEventId;
        this.#retryMs = stream.retryMs ?? this.#retryMs;
        if (stream.count > 0) this.#failures = 0;
        this.#again();
      },
    });
  }

  #again(): void {
    this.#timer = setTimeout(() => this.#open(), pauseAfter(this.#failures++, this.#retryMs));
  }
}
