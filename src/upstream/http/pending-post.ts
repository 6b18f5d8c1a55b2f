import type { IncomingMessage } from 'node:http';
import type { SwitchboardError } from '../../shared/errors.ts';
import type { Message } from '../../wire/index.ts';
import type { SendFailure } from '../transport.ts';
import { discard, HttpRequest, typeOf, type HttpRequestOptions } from './http-request.ts';
import { answeredBadly, badStatus, broken, causeOf, noHttpAnswer, wrongType } from './failures.ts';
import type { ErrorBody, WholeBody } from './inbox.ts';
import { answeredId, errorAnswer, rejectsSession } from './incoming.ts';
import type { Outgoing } from './remote-messages.ts';
import type { ErrorResponse, HttpTransportContext } from './http-transport.ts';
import { ResumableStream, type StreamEnd } from './resumable-stream.ts';

export interface PendingPostEvents {
  /** Whether the server is processing other requests, and is therefore running although this one got no connection. */
  othersServed(post: PendingPost): boolean;
  /** A message arrived on the response to the request with this id: its answer or another message. */
  arrived(message: Message, id: number): void;
  /** An event that is not a message. `id` identifies our request that it answers; 0 if that is unknown. */
  invalid(id: number): void;
  /** Nothing more will arrive for the request. Called once, also after `drop`. */
  settled(post: PendingPost, outcome: PostOutcome): void;
}

export type PostOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  /** The server no longer knows the session. */
  | { readonly kind: 'session-lost'; readonly failure: SendFailure }
  /** `initialize` was rejected in the way of a server that does not support Streamable HTTP. */
  | { readonly kind: 'unsupported'; readonly response: ErrorResponse }
  | SendFailure;

export interface PendingPostOptions extends Pick<HttpRequestOptions, 'headers' | 'url'> {
  /** Whether an event stream can be resumed after being cut off. Default true. */
  readonly resumable?: boolean;
  /** Whether the answer comes on an event stream of the transport, not in the response. Default false. */
  readonly answeredElsewhere?: boolean;
}

/** How long an event stream may stay open after the answer, in milliseconds. */
const LINGER_MS = 1000;
/** How a server that does not support Streamable HTTP responds to `initialize`. */
const UNSUPPORTED = new Set([400, 404, 405, 406, 415, 501]);

/** One pending request, from its POST to its answer, over all the streams in between. */
export class PendingPost {
  readonly message: Outgoing;
  readonly #context: HttpTransportContext;
  readonly #events: PendingPostEvents;
  readonly #hadSession: boolean;
  readonly #options: PendingPostOptions;
  /** The POST. */
  readonly request: HttpRequest;
  /** The event stream with the answer, unless the answer is JSON. */
  #stream: ResumableStream | undefined;
  #settled = false;
  /** The server sent an event that is not a message. */
  #sawInvalid = false;

  constructor(
    message: Outgoing,
    context: HttpTransportContext,
    events: PendingPostEvents,
    options: PendingPostOptions,
  ) {
    this.message = message;
    this.#context = context;
    this.#events = events;
    this.#hadSession = context.endpoint.session !== undefined;
    this.#options = options;
    const retries = (): boolean => events.othersServed(this);
    this.request = new HttpRequest(context.endpoint, { ...options, method: 'POST', message, retries });
    void this.#run();
  }

  /** True while the server can still answer on an open connection. */
  get served(): boolean {
    return this.#options.answeredElsewhere === true
      ? this.request.connected
      : (this.#stream ?? this.request).served;
  }

  /** The answer is not a valid message. */
  answeredInvalid(): void {
    this.#badAnswer('an invalid JSON-RPC message');
  }

  /** The answer is no longer needed. */
  drop(): void {
    this.settle({ kind: 'dropped' });
  }

  /** Ends with this outcome. Only the first call has an effect. */
  settle(outcome: PostOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    (this.#stream ?? this.request).drop(outcome.kind === 'answered' ? LINGER_MS : 0);
    this.#events.settled(this, outcome);
  }

  #fail(error: SwitchboardError): void {
    this.settle({ kind: 'failed', error });
  }

  #badAnswer(what: string): void {
    if (!this.#settled) this.#fail(answeredBadly(this.#context.endpoint, what));
  }

  async #run(): Promise<void> {
    const { endpoint, inbox } = this.#context;
    const outcome = await this.request.outcome;
    if (outcome.kind === 'broken') this.#fail(broken(endpoint, outcome.cause));
    else if (outcome.kind === 'refused') this.#fail(outcome.error);
    else if (outcome.kind !== 'answered') this.settle(outcome);
    else {
      const { response, status } = outcome;
      if (status < 200 || status > 299) {
        this.#rejected(status, await inbox.readError(response));
        return;
      }
      if (this.#options.answeredElsewhere === true) {
        discard(response);
        return;
      }
      const type = typeOf(response);
      if (this.message.method === 'initialize') endpoint.session = sessionOf(response);
      if (type === 'text/event-stream') this.#readEvents(response);
      else if (type === 'application/json' || type === '')
        this.#readJson(await inbox.readWhole(response), status);
      else this.#fail(wrongType(endpoint, type, (await inbox.readError(response)).text));
    }
  }

  #readEvents(response: IncomingMessage): void {
    const events = this.#events;
    this.#stream = new ResumableStream(
      this.#context,
      {
        message: (message) => events.arrived(message, this.message.id),
        invalid: (id) => {
          this.#sawInvalid = true;
          events.invalid(id);
        },
        oversize: () => this.settle({ kind: 'too-large' }),
        flooded: () => this.#badAnswer('too much that is not a message'),
        resumes: (end, stream) => !this.#settled && this.#resumes(end, stream),
      },
      this.request,
    );
    void this.#stream.read(response);
  }

  #readJson({ kind, pieces }: WholeBody, status: number): void {
    const { endpoint, inbox } = this.#context;
    if (this.#settled) return;
    if (kind === 'too-large') this.settle({ kind });
    else if (kind === 'broken') this.#fail(broken(endpoint, { code: 'ECONNRESET' }));
    else if (pieces.length === 0) this.#badAnswer(`HTTP ${status} and an empty body`);
    else {
      const read = inbox.parse(pieces);
      if (typeof read === 'number') this.answeredInvalid();
      else {
        for (const message of read) this.#events.arrived(message, this.message.id);
        this.#badAnswer('the response to another request');
      }
    }
  }

  #rejected(status: number, body: ErrorBody): void {
    const { endpoint, inbox } = this.#context;
    const { id, method } = this.message;
    if (this.#settled) return;
    // An answer to this request means that the server has processed it, whatever the status, so it must not be resent.
    const given = body.messages.find((message) => answeredId(message) === id);
    // Many servers respond with 400 to an unknown session, although the specification requires 404.
    const sessionLost = this.#hadSession && (status === 404 || (status === 400 && rejectsSession(body)));
    const answer = given ?? (sessionLost ? undefined : errorAnswer(inbox, body, id));
    if (answer !== undefined) this.#events.arrived(answer, id);
    else if (sessionLost) this.settle({ kind: 'session-lost', failure: { kind: 'not-taken' } });
    else if (method === 'initialize' && UNSUPPORTED.has(status) && !this.#options.answeredElsewhere)
      this.settle({ kind: 'unsupported', response: { status, text: body.text } });
    else this.#fail(badStatus(endpoint, status, body.text));
  }

  /** Whether to resume the stream after it ended this way. If not, the request has failed. */
  #resumes(end: StreamEnd, { attempts, lastEventId }: ResumableStream): boolean {
    const resumable = this.#options.resumable !== false && lastEventId !== undefined;
    if (resumable && attempts < maxResumes(end)) return true;
    if (end.kind === 'refused') this.#fail(end.error);
    else if (end.kind === 'ended' && !resumable && this.#sawInvalid) this.answeredInvalid();
    else {
      const sessionLost = end.kind === 'rejected' && end.status === 404 && this.#hadSession;
      const how = sessionLost ? `${NOT_RESUMED}: it no longer knows the session` : howEnded(end);
      const failure: SendFailure = { kind: 'failed', error: noHttpAnswer(this.#context.endpoint, how) };
      this.settle(sessionLost ? { kind: 'session-lost', failure } : failure);
    }
    return false;
  }
}

/** How often in a row resuming a stream may bring no event, if the last attempt ended this way. */
function maxResumes(end: StreamEnd): number {
  // A client is waiting for the answer, and a restarted server has lost it.
  if (end.kind === 'unreachable') return 2;
  return end.kind === 'refused' || (end.kind === 'rejected' && end.status < 500) ? 0 : 5;
}

const NOT_RESUMED = 'dropped its event stream, which could not be resumed';

function howEnded(end: Exclude<StreamEnd, { kind: 'refused' }>): string {
  if (end.kind === 'rejected') return `${NOT_RESUMED}: HTTP ${end.status}`;
  if (end.kind !== 'ended') return `${NOT_RESUMED}: ${causeOf(end.cause)}`;
  return end.complete
    ? 'ended its event stream without a response'
    : 'dropped its event stream before it responded';
}

/** The session that the server assigned in its response, if it fits in a header. */
function sessionOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['mcp-session-id'];
  return typeof given === 'string' && /^[\x21-\x7e]+$/.test(given) ? given : undefined;
}
