import type { IncomingMessage } from 'node:http';
import { printableLine } from '../../shared/printable.ts';
import type { SwitchboardError } from '../../shared/errors.ts';
import type { Message } from '../../wire/index.ts';
import type { SendFailure } from '../transport.ts';
import { discard, HttpRequest, typeOf, type HttpOutcome } from './http-request.ts';
import {
  answeredBadly,
  badStatus,
  broken,
  causeOf,
  neither,
  noHttpAnswer,
  notConnected,
  notReady,
  httpStartFailed,
  serverUnreachable,
  wrongType,
} from './failures.ts';
import { agreedVersion, answeredId, errorAnswer, idOfOversize } from './incoming.ts';
import type { Outgoing } from './outgoing.ts';
import {
  NOTIFICATION_TIMEOUT_MS,
  type ErrorResponse,
  type HttpTransport,
  type HttpTransportContext,
} from './http-transport.ts';

/**
 * HTTP+SSE, the older transport: one long event stream brings all messages, and its first event says where to post
 * messages to the server.
 */
export class Sse implements HttpTransport {
  readonly #context: HttpTransportContext;
  /** How the server responded to Streamable HTTP, if that was tried before. */
  readonly #before: ErrorResponse | undefined;
  /** Requests that are not answered yet, with their POST while that is in progress. */
  readonly #pending = new Map<number, HttpRequest | undefined>();
  readonly #posts = new Set<HttpRequest>();
  /** Messages that wait for the address to post them to. */
  #early: { readonly message: Outgoing; readonly done: () => void }[] = [];
  #stream: HttpRequest | undefined;
  #postUrl: URL | undefined;
  #initializeId = 0;
  #state: 'open' | 'over' = 'open';

  constructor(context: HttpTransportContext, before?: ErrorResponse) {
    this.#context = context;
    this.#before = before;
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  send(message: Outgoing): Promise<void> | undefined {
    if (this.#state === 'over') {
      message.sent();
      if (message.id > 0) this.#context.events.unanswered(message.id, { kind: 'not-taken' });
      return undefined;
    }
    this.#stream ??= new HttpRequest(
      this.#context.endpoint,
      { method: 'GET' },
      { ended: (outcome) => this.#opened(outcome) },
    );
    if (this.#postUrl !== undefined) return this.#post(message);
    return new Promise((done) => {
      this.#early.push({ message, done });
    });
  }

  stop(): Promise<void> {
    this.#finish();
    return Promise.resolve();
  }

  #opened(outcome: HttpOutcome): void {
    if (this.#state === 'over') return;
    const { endpoint } = this.#context;
    switch (outcome.kind) {
      case 'answered': {
        const { response, status } = outcome;
        if (status === 200 && typeOf(response) === 'text/event-stream') this.#read(response);
        else this.#readRejection(response, status);
        break;
      }
      case 'unreachable':
        this.#fail(httpStartFailed(endpoint, outcome.cause));
        break;
      case 'broken':
        this.#fail(notReady(endpoint, `broke off: ${causeOf(outcome.cause)}`));
        break;
      case 'refused':
        this.#fail(outcome.error);
        break;
      case 'dropped':
        break;
    }
  }

  #readRejection(response: IncomingMessage, status: number): void {
    const { endpoint, inbox } = this.#context;
    inbox.readError(response, (pieces) => {
      const text = Buffer.concat(pieces).toString();
      if (this.#before !== undefined) this.#fail(neither(endpoint, this.#before, { status, text }));
      else if (status < 200 || status > 299) this.#fail(badStatus(endpoint, status, text));
      else this.#fail(wrongType(endpoint, typeOf(response), text));
    });
  }

  #read(response: IncomingMessage): void {
    const { inbox, endpoint } = this.#context;
    inbox.readEvents(response, undefined, {
      message: (message) => this.#arrived(message),
      invalid: (id) => this.#invalid(id),
      oversize: (head, tail) => this.#oversize(idOfOversize(head, tail)),
      other: (type, data) => {
        if (type === 'endpoint') this.#found(Buffer.concat(data).toString().trim());
      },
      ended: () => {
        if (this.#postUrl !== undefined) this.#lose('closed its event stream');
        else this.#fail(notReady(endpoint, 'closed its event stream before it was ready'));
      },
    });
  }

  /** The server says where to post messages. */
  #found(address: string): void {
    const { endpoint } = this.#context;
    if (this.#state === 'over' || this.#postUrl !== undefined) return;
    const url = URL.canParse(address, endpoint.url.href) ? new URL(address, endpoint.url.href) : undefined;
    if (url?.origin !== endpoint.url.origin) {
      const where = url === undefined ? 'that is invalid' : `at ${printableLine(url.origin)}`;
      this.#fail(answeredBadly(endpoint, `an address for messages ${where}, to which nothing is sent`));
      return;
    }
    url.username = url.password = url.hash = '';
    this.#postUrl = url;
    for (const { message, done } of this.#early.splice(0)) void this.#post(message).then(done);
  }

  #arrived(message: Message): void {
    const { endpoint, inbox, events } = this.#context;
    if (this.#state === 'over') return;
    const id = answeredId(message);
    if (this.#pending.delete(id) && id === this.#initializeId) {
      endpoint.version = agreedVersion(message);
      events.supported();
    }
    inbox.deliver(message);
  }

  #invalid(id: number): void {
    const { endpoint, log, events } = this.#context;
    log.warn('sent an event that is not a message', { server: endpoint.server });
    const error = answeredBadly(endpoint, 'an invalid JSON-RPC message');
    if (this.#pending.delete(id)) events.unanswered(id, { kind: 'failed', error });
  }

  /** A response over the size limit fails its request, or all requests if its id is unknown. */
  #oversize(id: number | undefined): void {
    const { endpoint, log, events } = this.#context;
    log.warn('dropped a message over the limit', { server: endpoint.server });
    if (id === undefined) return;
    for (const waiting of id > 0 ? [id] : [...this.#pending.keys()]) {
      if (this.#pending.delete(waiting)) events.unanswered(waiting, { kind: 'too-large' });
    }
  }

  async #post(message: Outgoing): Promise<void> {
    const { id, cancels } = message;
    if (message.method === 'initialize') this.#initializeId = id;
    if (this.#pending.has(cancels)) {
      // A cancellation is sent after the request that it cancels.
      await this.#pending.get(cancels)?.taken();
      this.#pending.delete(cancels);
    }
    if (this.#state === 'over') {
      message.sent();
      return;
    }
    await new Promise<void>((resolve) => {
      const request = new HttpRequest(
        this.#context.endpoint,
        {
          method: 'POST',
          body: message,
          url: this.#postUrl!,
          ...(id > 0 ? {} : { timeoutMs: NOTIFICATION_TIMEOUT_MS }),
        },
        {
          sent: () => message.sent(),
          retries: () => id > 0 && this.#othersServed(id),
          ended: (outcome) => {
            this.#posts.delete(request);
            this.#posted(outcome, message);
            if (this.#pending.has(id)) this.#pending.set(id, undefined);
            resolve();
          },
        },
      );
      this.#posts.add(request);
      if (id > 0) this.#pending.set(id, request);
    });
  }

  #posted(outcome: HttpOutcome, message: Outgoing): void {
    const { endpoint } = this.#context;
    switch (outcome.kind) {
      case 'answered':
        this.#responded(outcome.response, outcome.status, message);
        break;
      case 'unreachable':
        if (this.#othersServed(message.id)) this.#failed(message, notConnected(endpoint, outcome.cause));
        else if (message.id > 0) {
          if (this.#pending.delete(message.id))
            this.#context.events.unanswered(message.id, { kind: 'not-taken' });
          this.#lose(serverUnreachable(endpoint, outcome.cause));
        }
        break;
      case 'broken':
        this.#failed(message, broken(endpoint, outcome.cause));
        break;
      case 'refused':
        this.#failed(message, outcome.error);
        break;
      case 'dropped':
    }
  }

  #responded(response: IncomingMessage, status: number, message: Outgoing): void {
    const { endpoint, inbox } = this.#context;
    if (status >= 200 && status <= 299) {
      discard(response);
      return;
    }
    inbox.readError(response, (pieces) => {
      const answer = message.id > 0 ? errorAnswer(inbox, pieces, message.id) : undefined;
      if (answer !== undefined && this.#pending.delete(message.id)) inbox.deliver(answer);
      else this.#failed(message, badStatus(endpoint, status, Buffer.concat(pieces).toString()));
    });
  }

  /** Whether the server is processing other requests, which it answers on its stream. */
  #othersServed(id: number): boolean {
    return [...this.#pending].some(([other, request]) => other !== id && request?.connected !== false);
  }

  #failed(message: Outgoing, error: SwitchboardError): void {
    const { endpoint, log, events } = this.#context;
    if (this.#state === 'over') return;
    if (message.id === 0)
      log.warn('rejected a message', {
        server: endpoint.server,
        method: message.method,
        reason: error.message,
      });
    else if (this.#pending.delete(message.id)) events.unanswered(message.id, { kind: 'failed', error });
  }

  /** The stream could not be opened: fails everything that waits for it. */
  #fail(error: SwitchboardError): void {
    if (this.#state === 'over') return;
    const failure: SendFailure = { kind: 'failed', error };
    const early = [...this.#early];
    this.#finish();
    for (const { message } of early) if (message.id > 0) this.#context.events.unanswered(message.id, failure);
  }

  #lose(how: string): void {
    if (this.#state === 'over') return;
    const { endpoint, events } = this.#context;
    const pending = [...this.#pending];
    this.#finish();
    events.closed();
    const error = noHttpAnswer(endpoint, `${how} before it responded`);
    for (const [id, request] of pending)
      events.unanswered(id, request?.connected === false ? { kind: 'not-taken' } : { kind: 'failed', error });
    events.ended({ kind: 'lost', how });
  }

  #finish(): void {
    this.#state = 'over';
    for (const { message, done } of this.#early.splice(0)) {
      message.sent();
      done();
    }
    this.#stream?.drop();
    for (const post of [...this.#posts]) post.drop();
  }
}
