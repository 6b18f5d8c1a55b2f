import type { IncomingMessage } from 'node:http';
import type { Message } from '../../wire/index.ts';
import type { SendFailure } from '../transport.ts';
import type { EventStreamParser } from './event-stream.ts';
import { discard, HttpRequest, typeOf, type HttpOutcome } from './http-request.ts';
import { answeredBadly, badStatus, broken, causeOf, noHttpAnswer, wrongType } from './failures.ts';
import type { WholeBody } from './inbox.ts';
import { answeredId, errorAnswer, rejectsSession } from './incoming.ts';
import type { Outgoing } from './outgoing.ts';
import { retryDelay, type ErrorResponse, type HttpTransportContext } from './http-transport.ts';

export interface PendingPostEvents {
  /** Whether the server is processing other requests, so that it is running though no connection was made for this one. */
  othersServed(post: PendingPost): boolean;
  /** The server accepted the request; its answer follows. */
  accepted(post: PendingPost, response: IncomingMessage): void;
  /** A message arrived, the answer or another one. */
  arrived(post: PendingPost, message: Message): void;
  /** An event that is not a message; `id` as in InvalidMessage. */
  invalid(id: number): void;
  /** Nothing more comes of it. Called once, also after `drop`. */
  settled(post: PendingPost, outcome: PostOutcome): void;
}

export type PostOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  /** The server no longer knows the session. */
  | { readonly kind: 'session-lost'; readonly failure: SendFailure }
  /** `initialize` was rejected as by a server that does not speak Streamable HTTP. */
  | { readonly kind: 'unsupported'; readonly response: ErrorResponse }
  | SendFailure;

export interface PendingPostOptions {
  /** Headers of this request alone. Default none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether an event stream that breaks off can be resumed. Default true. */
  readonly resumable?: boolean;
}

/** How long an event stream may stay open after the answer, in milliseconds. */
const LINGER_MS = 1000;
/** Attempts in a row to resume a stream that bring no event. */
const MAX_RESUMES = 5;
/** The same if no connection can be made: a client waits for the answer, and a restarted server has lost it. */
const MAX_RECONNECTS = 2;
/** How a server that does not know Streamable HTTP responds to `initialize`. */
const UNSUPPORTED = new Set([400, 404, 405, 406, 415, 501]);
const NOT_RESUMED = 'dropped its event stream, which could not be resumed';

/** One pending request: from its POST to its answer, over all the streams this takes. */
export class PendingPost {
  readonly message: Outgoing;
  readonly #context: HttpTransportContext;
  readonly #events: PendingPostEvents;
  readonly #hadSession: boolean;
  readonly #resumable: boolean;
  readonly #post: HttpRequest;
  /** The POST, or the GET that resumes its stream. */
  #current: HttpRequest;
  #settled = false;
  /** The current response has been read to its end. */
  #read = false;
  #linger: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #resumes = 0;
  #resuming: NodeJS.Timeout | undefined;
  /** The server sent an event that is not a message. */
  #sawInvalid = false;

  constructor(
    message: Outgoing,
    context: HttpTransportContext,
    events: PendingPostEvents,
    { headers, resumable = true }: PendingPostOptions = {},
  ) {
    this.message = message;
    this.#context = context;
    this.#events = events;
    this.#hadSession = context.endpoint.session !== undefined;
    this.#resumable = resumable;
    this.#post = this.#current = new HttpRequest(
      context.endpoint,
      { method: 'POST', body: message, headers },
      {
        ended: (outcome) => this.#posted(outcome),
        sent: () => message.sent(),
        retries: () => events.othersServed(this),
      },
    );
  }

  /** True once the server may have seen something of it. */
  get connected(): boolean {
    return this.#post.connected;
  }

  /** True while the server can answer on an open connection. */
  get served(): boolean {
    return this.#current.connected && !this.#read;
  }

  /** Resolves when the server can be assumed to know of it. */
  taken(): Promise<void> {
    return this.#post.taken();
  }

  /** Its answer has arrived, on any stream. */
  answered(): void {
    if (this.#settled) return;
    clearTimeout(this.#resuming);
    if (!this.#read) this.#linger = setTimeout(() => this.#current.drop(), LINGER_MS);
    this.#settle({ kind: 'answered' });
  }

  /** Its answer is not a valid message. */
  answeredInvalid(): void {
    this.#badAnswer('an invalid JSON-RPC message');
    if (!this.#read) this.#current.drop();
  }

  /** Its answer is no longer needed. */
  drop(): void {
    clearTimeout(this.#resuming);
    clearTimeout(this.#linger);
    this.#current.drop();
    this.#settle({ kind: 'dropped' });
  }

  #settle(outcome: PostOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#events.settled(this, outcome);
  }

  #badAnswer(what: string): void {
    if (this.#settled) return;
    this.#settle({ kind: 'failed', error: answeredBadly(this.#context.endpoint, what) });
  }

  #posted(outcome: HttpOutcome): void {
    const { endpoint } = this.#context;
    if (outcome.kind === 'answered') this.#responded(outcome.response, outcome.status);
    else if (outcome.kind === 'broken')
      this.#settle({ kind: 'failed', error: broken(endpoint, outcome.cause) });
    else if (outcome.kind === 'refused') this.#settle({ kind: 'failed', error: outcome.error });
    else this.#settle(outcome);
  }

  #responded(response: IncomingMessage, status: number): void {
    const { endpoint, inbox } = this.#context;
    if (status < 200 || status > 299) {
      inbox.readError(response, (pieces) => this.#rejected(status, pieces));
      return;
    }
    this.#events.accepted(this, response);
    const type = typeOf(response);
    if (type === 'text/event-stream') this.#readEvents(response);
    else if (type === 'application/json' || type === '')
      inbox.readWhole(response, (body) => this.#readJson(body, status));
    else
      inbox.readError(response, (pieces) => {
        this.#bodyEnded();
        this.#settle({ kind: 'failed', error: wrongType(endpoint, type, textOf(pieces)) });
      });
  }

  #readJson({ kind, pieces }: WholeBody, status: number): void {
    const { endpoint, inbox } = this.#context;
    this.#bodyEnded();
    if (this.#settled) return;
    if (kind === 'too-large') this.#settle({ kind });
    else if (kind === 'broken')
      this.#settle({ kind: 'failed', error: broken(endpoint, { code: 'ECONNRESET' }) });
    else if (pieces.length === 0) this.#badAnswer(`HTTP ${status} and an empty body`);
    else {
      const read = inbox.parse(pieces);
      if (!Array.isArray(read)) this.answeredInvalid();
      else {
        for (const message of read) this.#events.arrived(this, message);
        this.#badAnswer('the response to another request');
      }
    }
  }

  #rejected(status: number, pieces: readonly Buffer[]): void {
    const { endpoint, inbox } = this.#context;
    const { id, method } = this.message;
    this.#bodyEnded();
    if (this.#settled) return;
    const text = textOf(pieces);
    // An answer to this request means that the server has processed it, whatever the status: it must not be resent.
    const read = inbox.parse(pieces);
    const given = Array.isArray(read) ? read.find((message) => answeredId(message) === id) : undefined;
    if (given !== undefined) {
      this.#events.arrived(this, given);
      return;
    }
    // Many servers respond with 400 to an unknown session, though the specification demands 404.
    const sessionLost = status === 404 || (status === 400 && rejectsSession(inbox, pieces, text));
    if (sessionLost && this.#hadSession) {
      this.#settle({ kind: 'session-lost', failure: { kind: 'not-taken' } });
      return;
    }
    const answer = errorAnswer(inbox, pieces, id);
    if (answer !== undefined) this.#events.arrived(this, answer);
    else if (method === 'initialize' && UNSUPPORTED.has(status))
      this.#settle({ kind: 'unsupported', response: { status, text } });
    else this.#settle({ kind: 'failed', error: badStatus(endpoint, status, text) });
  }

  #readEvents(response: IncomingMessage): void {
    this.#context.inbox.readEvents(response, this.#lastEventId, {
      message: (message) => this.#events.arrived(this, message),
      invalid: (id) => {
        this.#sawInvalid = true;
        this.#events.invalid(id);
      },
      oversize: () => {
        this.#settle({ kind: 'too-large' });
        response.destroy();
      },
      ended: (stream, complete) => this.#streamEnded(stream, complete),
    });
  }

  #bodyEnded(): void {
    this.#read = true;
    clearTimeout(this.#linger);
  }

  #streamEnded(stream: EventStreamParser, complete: boolean): void {
    this.#bodyEnded();
    if (this.#settled) return;
    this.#lastEventId = stream.lastEventId;
    this.#retryMs = stream.retryMs ?? this.#retryMs;
    if (stream.count > 0) this.#resumes = 0;
    const how = complete
      ? 'ended its event stream without a response'
      : 'dropped its event stream before it responded';
    if (this.#lastEventId !== undefined && this.#resumable) this.#resume(how);
    else if (this.#sawInvalid) this.answeredInvalid();
    else this.#settle({ kind: 'failed', error: noHttpAnswer(this.#context.endpoint, how) });
  }

  /** Resumes the stream after a pause. `how` is how the last attempt ended. */
  #resume(how: string): void {
    const { endpoint } = this.#context;
    if (this.#resumes >= MAX_RESUMES) {
      this.#settle({ kind: 'failed', error: noHttpAnswer(endpoint, how) });
      return;
    }
    this.#resuming = setTimeout(
      () => {
        this.#read = false;
        this.#current = new HttpRequest(
          endpoint,
          { method: 'GET', lastEventId: this.#lastEventId },
          { ended: (outcome) => this.#resumed(outcome) },
        );
      },
      retryDelay(this.#resumes++, this.#retryMs),
    );
  }

  #resumed(outcome: HttpOutcome): void {
    if (this.#settled) {
      this.#current.drop();
      return;
    }
    const { endpoint } = this.#context;
    const lost = (how: string): SendFailure => ({
      kind: 'failed',
      error: noHttpAnswer(endpoint, `${NOT_RESUMED}: ${how}`),
    });
    if (outcome.kind === 'refused') this.#settle({ kind: 'failed', error: outcome.error });
    else if (outcome.kind === 'dropped') this.#settle(outcome);
    else if (outcome.kind === 'unreachable' && this.#resumes >= MAX_RECONNECTS)
      this.#settle(lost(causeOf(outcome.cause)));
    else if (outcome.kind !== 'answered') this.#resume(`${NOT_RESUMED}: ${causeOf(outcome.cause)}`);
    else {
      const { response, status } = outcome;
      if (status === 200 && typeOf(response) === 'text/event-stream') {
        this.#readEvents(response);
        return;
      }
      discard(response);
      if (status >= 500) this.#resume(`${NOT_RESUMED}: HTTP ${status}`);
      else if (status === 404 && this.#hadSession)
        this.#settle({ kind: 'session-lost', failure: lost('it no longer knows the session') });
      else this.#settle(lost(`HTTP ${status}`));
    }
  }
}

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString();
}
