import type { IncomingMessage } from 'node:http';
import type { Message } from '../../wire/index.ts';
import { discard, HttpRequest, typeOf, type HttpOutcome } from './http-request.ts';
import { retryDelay, type HttpTransportContext } from './http-transport.ts';

export interface GetStreamEvents {
  arrived(message: Message): void;
  /** An event that is not a message; `id` as in InvalidMessage. */
  invalid(id: number): void;
  /** The server no longer knows the session. */
  sessionLost(): void;
}

/** The event stream on which a server sends messages that belong to no request. Opened again whenever it breaks off. */
export class GetStream {
  readonly #context: HttpTransportContext;
  readonly #events: GetStreamEvents;
  #request: HttpRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  /** Attempts in a row that brought no event. */
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
    this.#request?.drop();
  }

  #open(): void {
    this.#request = new HttpRequest(
      this.#context.endpoint,
      { method: 'GET', lastEventId: this.#lastEventId },
      { ended: (outcome) => this.#opened(outcome) },
    );
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
      // A server without this stream often has no route for it either: a 404 means that the session is lost only if
      // the stream existed before.
      if (status === 404 && this.#offered && endpoint.session !== undefined) this.#events.sessionLost();
      else if (status >= 500 && status !== 501) this.#reopen();
      else log.debug('offers no event stream', { server: endpoint.server, status });
    } else if (outcome.kind === 'refused')
      log.debug('offers no event stream', { server: endpoint.server, reason: outcome.error.message });
    else this.#reopen();
  }

  #read(response: IncomingMessage): void {
    this.#offered = true;
    const { inbox, endpoint, log } = this.#context;
    inbox.readEvents(response, this.#lastEventId, {
      message: (message) => this.#events.arrived(message),
      invalid: (id) => this.#events.invalid(id),
      oversize: () => log.warn('dropped a message over the limit', { server: endpoint.server }),
      ended: (stream) => {
        if (this.#stopped) return;
        this.#lastEventId = stream.lastEventId;
        this.#retryMs = stream.retryMs ?? this.#retryMs;
        if (stream.count > 0) this.#failures = 0;
        this.#reopen();
      },
    });
  }

  #reopen(): void {
    this.#timer = setTimeout(() => this.#open(), retryDelay(this.#failures++, this.#retryMs));
  }
}
