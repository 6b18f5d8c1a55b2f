import type { IncomingMessage } from 'node:http';
import type { Message } from '../../wire/index.ts';
import { EventStreamParser } from './event-stream.ts';
import { discard, HttpRequest, typeOf, type HttpOutcome } from './http-request.ts';
import { readIncoming } from './incoming.ts';
import { pauseAfter } from './pause.ts';
import type { HttpTransportContext } from './http-transport.ts';

export interface GetStreamEvents {
  arrived(message: Message): void;
  /** The server does not know our session any more. */
  forgotten(): void;
}

/** The stream on which a server speaks without being asked. It is opened again whenever it breaks. */
export class GetStream {
  readonly #context: HttpTransportContext;
  readonly #events: GetStreamEvents;
  #exchange: HttpRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  /** Tries in a row that brought no event. */
  #failures = 0;
  /** The server has offered such a stream before. */
  #offered = false;
  #stopped = false;

  constructor(context: HttpTransportContext, events: GetStreamEvents) {
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
    this.#exchange = new HttpRequest(this.#context.endpoint, {
      method: 'GET',
      accept: 'text/event-stream',
      lastEventId: this.#lastEventId,
    });
    void this.#exchange.outcome.then((outcome) => this.#opened(outcome));
  }

  #opened(outcome: HttpOutcome): void {
    if (this.#stopped) return;
    const { endpoint, log } = this.#context;
    if (outcome.kind === 'answered') {
      const { response, status } = outcome;
      if (status === 200 && typeOf(response) === 'text/event-stream') {
        this.#read(response);
        return;
      }
      discard(response);
      // A server without this stream often has no route for it either: only where it had one before does a 404 mean
      // that the session is gone.
      if (status === 404 && this.#offered && endpoint.session !== undefined) this.#events.forgotten();
      else if (status >= 500 && status !== 501) this.#again();
      else log.debug('offers no event stream', { server: endpoint.server, status });
    } else if (outcome.kind === 'refused')
      log.debug('offers no event stream', { server: endpoint.server, reason: outcome.error.message });
    else this.#again();
  }

  #read(response: IncomingMessage): void {
    this.#offered = true;
    const { endpoint, incomingStream, messageBytes, log } = this.#context;
    const stream = new EventStreamParser(messageBytes, {
      event: (type, data) => {
        if (type !== 'message') return;
        const messages = readIncoming(data);
        if (messages === undefined)
          log.warn('sent an event that is not a message', { server: endpoint.server });
        else for (const message of messages) this.#events.arrived(message);
      },
      oversize: () => log.warn('dropped a message over the limit', { server: endpoint.server }),
    });
    stream.lastEventId = this.#lastEventId;
    incomingStream.read(response, {
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
