import type { IncomingMessage } from 'node:http';
import { printableLine } from '../../shared/printable.ts';
import type { SwitchboardError } from '../../shared/errors.ts';
import type { SendFailure } from '../transport.ts';
import { EventStreamParser } from './event-stream.ts';
import { discard, HttpRequest, typeOf } from './http-request.ts';
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
import { agreedVersion, answeredId, errorAnswer, idOfOversize, readIncoming } from './incoming.ts';
import type { Outgoing } from './outgoing-stream.ts';
import {
  NOTIFICATION_TIMEOUT_MS,
  type HttpRefusal,
  type HttpTransport,
  type HttpTransportContext,
} from './http-transport.ts';
import { refusalBody } from './whole-body.ts';

/**
 * HTTP+SSE, the older transport: one long stream of events brings everything, its first event says where messages are
 * to be posted.
 */
export class Sse implements HttpTransport {
  readonly #context: HttpTransportContext;
  /** How the other transport was answered, where that was tried before. */
  readonly #before: HttpRefusal | undefined;
  /** Requests that are not answered yet; with what sends them while that is under way. */
  readonly #calls = new Map<number, HttpRequest | undefined>();
  readonly #posts = new Set<HttpRequest>();
  /** Messages that wait until the server has said where to post them. */
  #early: { readonly message: Outgoing; readonly done: () => void }[] = [];
  #stream: HttpRequest | undefined;
  #postUrl: URL | undefined;
  #initialize = 0;
  #state: 'open' | 'over' = 'open';

  constructor(context: HttpTransportContext, before?: HttpRefusal) {
    this.#context = context;
    this.#before = before;
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  async send(message: Outgoing): Promise<void> {
    if (this.#state === 'over') {
      message.sent();
      if (message.id > 0) this.#context.events.unanswered(message.id, { kind: 'not-taken' });
      return;
    }
    if (this.#stream === undefined) void this.#listen();
    if (this.#postUrl === undefined)
      await new Promise<void>((done) => {
        this.#early.push({ message, done });
      });
    else await this.#post(message);
  }

  stop(): Promise<void> {
    this.#finish();
    return Promise.resolve();
  }

  async #listen(): Promise<void> {
    const { endpoint, incomingStream } = this.#context;
    this.#stream = new HttpRequest(endpoint, { method: 'GET', accept: 'text/event-stream' });
    const outcome = await this.#stream.outcome;
    if (this.#state === 'over') return;
    switch (outcome.kind) {
      case 'answered': {
        const { response, status } = outcome;
        if (status === 200 && typeOf(response) === 'text/event-stream') {
          this.#read(response);
          break;
        }
        const text = Buffer.concat(await refusalBody(response, incomingStream)).toString();
        if (this.#before !== undefined) this.#fail(neither(endpoint, this.#before, { status, text }));
        else if (status < 200 || status > 299) this.#fail(badStatus(endpoint, status, text));
        else this.#fail(wrongType(endpoint, typeOf(response), text));
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

  #read(response: IncomingMessage): void {
    const stream = new EventStreamParser(this.#context.messageBytes, {
      event: (type, data) => {
        if (this.#state === 'over') return;
        if (type === 'endpoint') this.#found(Buffer.concat(data).toString().trim());
        else if (type === 'message') this.#arrived(data);
      },
      oversize: (head, tail) => this.#oversize(idOfOversize(head, tail)),
    });
    this.#context.incomingStream.read(response, {
      data: (chunk) => stream.push(chunk),
      ended: () => {
        if (this.#postUrl !== undefined) this.#lose('closed its event stream');
        else this.#fail(notReady(this.#context.endpoint, 'closed its event stream before it was ready'));
      },
    });
  }

  /** The server says where messages go. */
  #found(address: string): void {
    const { endpoint } = this.#context;
    if (this.#postUrl !== undefined) return;
    const url = URL.canParse(address, endpoint.url.href) ? new URL(address, endpoint.url.href) : undefined;
    if (url?.origin !== endpoint.url.origin) {
      const where = url === undefined ? 'that is none' : `at ${printableLine(url.origin)}`;
      this.#fail(answeredBadly(endpoint, `an address for messages ${where}, to which nothing is sent`));
      return;
    }
    url.username = url.password = url.hash = '';
    this.#postUrl = url;
    for (const { message, done } of this.#early.splice(0)) void this.#post(message).then(done);
  }

  #arrived(data: Buffer[]): void {
    const { endpoint, incomingStream, events, log } = this.#context;
    const messages = readIncoming(data);
    if (messages === undefined) log.warn('sent an event that is not a message', { server: endpoint.server });
    for (const message of messages ?? []) {
      const id = answeredId(message);
      if (this.#calls.delete(id) && id === this.#initialize) {
        endpoint.version = agreedVersion(message);
        events.suits();
      }
      incomingStream.put(message);
    }
  }

  /** An answer over the limit fails its request. If it does not say which, it fails all of them. */
  #oversize(id: number | undefined): void {
    const { endpoint, log, events } = this.#context;
    log.warn('dropped a message over the limit', { server: endpoint.server });
    if (id === undefined) return;
    for (const waiting of id > 0 ? [id] : [...this.#calls.keys()]) {
      if (this.#calls.delete(waiting)) events.unanswered(waiting, { kind: 'too-large' });
    }
  }

  async #post(message: Outgoing): Promise<void> {
    const { endpoint } = this.#context;
    const { id } = message;
    if (message.method === 'initialize') this.#initialize = id;
    if (this.#calls.has(message.cancels)) {
      // A cancellation goes behind what it cancels.
      await this.#calls.get(message.cancels)?.taken();
      this.#calls.delete(message.cancels);
    }
    if (this.#state === 'over') {
      message.sent();
      return;
    }
    const httpRequest = new HttpRequest(endpoint, {
      method: 'POST',
      accept: 'application/json, text/event-stream',
      body: message.body,
      url: this.#postUrl!,
      ...(id > 0 ? { again: () => this.#othersServed(id) } : { timeoutMs: NOTIFICATION_TIMEOUT_MS }),
    });
    this.#posts.add(httpRequest);
    if (id > 0) this.#calls.set(id, httpRequest);
    void httpRequest.sent.then(() => message.sent());
    await this.#posted(httpRequest, message);
    this.#posts.delete(httpRequest);
    if (this.#calls.has(id)) this.#calls.set(id, undefined);
  }

  async #posted(httpRequest: HttpRequest, message: Outgoing): Promise<void> {
    const { endpoint, incomingStream } = this.#context;
    const outcome = await httpRequest.outcome;
    switch (outcome.kind) {
      case 'answered': {
        const { response, status } = outcome;
        if (status >= 200 && status <= 299) {
          discard(response);
          return;
        }
        const pieces = await refusalBody(response, incomingStream);
        const answer = message.id > 0 ? errorAnswer(pieces, message.id) : undefined;
        if (answer !== undefined && this.#calls.delete(message.id)) incomingStream.put(answer);
        else this.#unsent(message, badStatus(endpoint, status, Buffer.concat(pieces).toString()));
        return;
      }
      case 'unreachable':
        if (this.#othersServed(message.id)) this.#unsent(message, notConnected(endpoint, outcome.cause));
        else if (message.id > 0) {
          if (this.#calls.delete(message.id))
            this.#context.events.unanswered(message.id, { kind: 'not-taken' });
          this.#lose(serverUnreachable(endpoint, outcome.cause));
        }
        return;
      case 'broken':
        this.#unsent(message, broken(endpoint, outcome.cause));
        return;
      case 'refused':
        this.#unsent(message, outcome.error);
        return;
      case 'dropped':
    }
  }

  /** Whether calls but this one are with the server, which answers them on its stream. */
  #othersServed(id: number): boolean {
    return [...this.#calls].some(([other, httpRequest]) => other !== id && httpRequest?.connected !== false);
  }

  #unsent(message: Outgoing, error: SwitchboardError): void {
    const { endpoint, log, events } = this.#context;
    if (this.#state === 'over') return;
    if (message.id === 0)
      log.warn('rejected a message', {
        server: endpoint.server,
        method: message.method,
        reason: error.message,
      });
    else if (this.#calls.delete(message.id)) events.unanswered(message.id, { kind: 'failed', error });
  }

  /** The stream was never established: fails everything that waits for it. */
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
    this.#finish();
    events.closed();
    const error = noHttpAnswer(endpoint, `${how} before it responded`);
    for (const [id, httpRequest] of this.#calls)
      events.unanswered(
        id,
        httpRequest?.connected === false ? { kind: 'not-taken' } : { kind: 'failed', error },
      );
    events.ended({ kind: 'lost', how });
  }

  #finish(): void {
    this.#state = 'over';
    for (const { message, done } of this.#early.splice(0)) {
      message.sent();
      done();
    }
    this.#stream?.drop();
    for (const post of this.#posts) post.drop();
  }
}
