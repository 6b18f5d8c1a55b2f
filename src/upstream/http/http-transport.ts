import type { IncomingMessage } from 'node:http';
import type { SwitchboardError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { Envelope, PendingRequests, type Message } from '../../wire/index.ts';
import type { ToolHeaders } from '../modern/tool-headers.ts';
import type { SendFailure, TransportEnd } from '../transport.ts';
import { broken, httpStartFailed, noHttpAnswer, notConnected, serverUnreachable } from './failures.ts';
import { discard, HttpRequest, NOTIFICATION_TIMEOUT_MS } from './http-request.ts';
import type { Inbox } from './inbox.ts';
import { agreedVersion, answeredId } from './incoming.ts';
import type { Outgoing } from './remote-messages.ts';
import {
  PendingPost,
  type PendingPostEvents,
  type PendingPostOptions,
  type PostOutcome,
} from './pending-post.ts';
import type { RemoteEndpoint } from './remote-endpoint.ts';

export interface HttpTransportContext {
  readonly endpoint: RemoteEndpoint;
  readonly inbox: Inbox;
  readonly log: Logger;
  /** The tool parameters that are sent in headers. Default: none. */
  readonly headers?: ToolHeaders | undefined;
  readonly events: HttpTransportEvents;
}

export interface HttpTransportEvents {
  unanswered(id: number, failure: SendFailure): void;
  ended(end: TransportEnd): void;
  /** The server has answered the handshake, so it supports this transport. */
  supported(): void;
  /** The response to `initialize` shows that the server does not support this transport. */
  unsupported(initialize: Outgoing, response: ErrorResponse): void;
}

/** A response with an error status, and the text of its body. */
export interface ErrorResponse {
  readonly status: number;
  readonly text: string;
}

/** How long other requests may wait to be answered or rejected once the session is lost, in milliseconds. */
const SESSION_LOST_TIMEOUT_MS = 2000;

/**
 * One of the protocol's two ways of carrying messages over HTTP. In both, every message to the server is a POST; they
 * differ in how responses arrive.
 */
export abstract class HttpTransport {
  protected readonly context: HttpTransportContext;
  /** Requests that have not been answered yet. */
  protected readonly posts = new PendingRequests<PendingPost>();
  /** `closing`: the server has lost the session, and pending requests are about to end. */
  protected state: 'open' | 'closing' | 'over' = 'open';
  /** The handlers for an event stream that does not belong to a request. */
  protected readonly streamEvents = {
    message: (message: Message): void => this.#arrived(message),
    invalid: (id: number): void => this.posts.get(id)?.answeredInvalid(),
  };
  readonly #postEvents: PendingPostEvents = {
    othersServed: (post) => this.#othersServed(post),
    arrived: (message, id) => this.#arrived(message, id),
    invalid: this.streamEvents.invalid,
    settled: (post, outcome) => this.#settled(post, outcome),
  };
  /** Notifications and responses that are being sent. */
  readonly #sending = new Set<HttpRequest>();

  constructor(context: HttpTransportContext) {
    this.context = context;
  }

  /** False once it no longer accepts messages. */
  get open(): boolean {
    return this.state === 'open';
  }

  /** For a message that is not a request: resolves when the server has accepted it or never will. */
  send(message: Outgoing): Promise<void> | undefined {
    const { id, cancels } = message;
    if (id === 0) {
      const cancelled = this.posts.get(cancels);
      return cancelled === undefined ? this.#sendOther(message) : this.#cancel(message, cancelled);
    }
    this.posts.add(id, new PendingPost(message, this.context, this.#postEvents, this.optionsOf(message)));
    return undefined;
  }

  /** Ends everything in progress without reporting it. */
  stop(): Promise<void> {
    this.finish();
    return Promise.resolve();
  }

  /** The options for posting a message. */
  protected abstract optionsOf(message: Outgoing): PendingPostOptions;

  /** The server responded to a notification or a response. */
  protected responded(message: Outgoing, response: IncomingMessage, status: number): void {
    discard(response);
    if (status < 200 || status > 299) this.#warnRejected(message, { status });
  }

  /** The server no longer knows the session. Other requests are about to be rejected too, or answered. */
  protected loseSession(): void {
    if (this.state !== 'open') return;
    this.state = 'closing';
    setTimeout(() => this.#endSession(), SESSION_LOST_TIMEOUT_MS).unref();
    if (this.posts.size === 0) this.#endSession();
  }

  /** The server can no longer be used. `how` and, for pending requests, `unanswered` complete a sentence about it. */
  protected lose(how: string, unanswered = how): void {
    if (this.open) this.#end({ kind: 'lost', how }, unanswered);
  }

  /** Drops everything. Returns the requests that were pending. */
  protected finish(): PendingPost[] {
    this.state = 'over';
    const pending = this.posts.all();
    for (const post of [...pending, ...this.#sending]) post.drop();
    return pending;
  }

  #endSession(): void {
    this.#end({ kind: 'session-lost' }, 'lost the session before it responded');
  }

  #end(end: TransportEnd, how: string): void {
    if (this.state === 'over') return;
    const { endpoint, events } = this.context;
    const error = noHttpAnswer(endpoint, how);
    for (const { message, request } of this.finish())
      events.unanswered(message.id, request.connected ? { kind: 'failed', error } : { kind: 'not-taken' });
    events.ended(end);
  }

  /** `requestId` identifies the request on whose response the message arrived. */
  #arrived(message: Message, requestId?: number): void {
    const post = this.posts.get(answeredId(message));
    if (post !== undefined) {
      this.#learn(post.message.method, message);
      post.settle({ kind: 'answered' });
    }
    this.context.inbox.deliver(message, requestId);
  }

  /** Notes what the response to a handshake shows. */
  #learn(method: string | undefined, answer: Message): void {
    const { endpoint, events } = this.context;
    if (method === 'initialize') endpoint.version = agreedVersion(answer);
    if (method === 'initialize' || (method === 'server/discover' && answer.has(Envelope.result)))
      events.supported();
  }

  #settled(post: PendingPost, outcome: PostOutcome): void {
    const { id } = post.message;
    const { events } = this.context;
    this.posts.take(id);
    switch (outcome.kind) {
      case 'answered':
      case 'dropped':
        break;
      case 'session-lost':
        if (this.state !== 'over') events.unanswered(id, outcome.failure);
        this.loseSession();
        break;
      case 'unsupported':
        events.unsupported(post.message, outcome.response);
        break;
      case 'unreachable':
        this.#unreachable(post, outcome.cause);
        break;
      default:
        events.unanswered(id, outcome);
    }
    if (this.state === 'closing' && this.posts.size === 0) this.#endSession();
  }

  #unreachable(post: PendingPost, cause: unknown): void {
    const { id, method } = post.message;
    const { endpoint, events } = this.context;
    const fail = (error: SwitchboardError): void => events.unanswered(id, { kind: 'failed', error });
    if (method === 'initialize' || method === 'server/discover') fail(httpStartFailed(endpoint, cause));
    // The change stream retries as long as it has subscribers; only a call needs to know that the server is gone.
    else if (method === 'subscriptions/listen') fail(broken(endpoint, cause));
    else if (this.open && this.#othersServed(post)) fail(notConnected(endpoint, cause));
    else {
      events.unanswered(id, { kind: 'not-taken' });
      this.lose(serverUnreachable(endpoint, cause));
    }
  }

  /**
   * Whether the server is processing other requests. These have their own connections and must not fail with this one.
   */
  #othersServed(post: PendingPost): boolean {
    return this.posts.all().some((other) => other !== post && other.served);
  }

  /** Sends a cancellation after the request that it cancels, then closes that request's connection. */
  async #cancel(message: Outgoing, post: PendingPost): Promise<void> {
    const { request } = post;
    if (request.connected) await request.taken();
    if (request.connected && this.state !== 'over') await this.#sendOther(message);
    else message.sent();
    post.drop();
  }

  /** Sends a notification or a response. Resolves when the server has accepted it or never will. */
  async #sendOther(message: Outgoing): Promise<void> {
    const request = new HttpRequest(this.context.endpoint, {
      ...this.optionsOf(message),
      method: 'POST',
      message,
      timeoutMs: NOTIFICATION_TIMEOUT_MS,
    });
    this.#sending.add(request);
    const outcome = await request.outcome;
    this.#sending.delete(request);
    if (outcome.kind === 'answered') this.responded(message, outcome.response, outcome.status);
    else if (outcome.kind === 'refused') this.#warnRejected(message, { reason: outcome.error.message });
    else if (outcome.kind !== 'dropped') this.#warnRejected(message, { reason: outcome.kind });
  }

  #warnRejected({ method }: Outgoing, details: object): void {
    const { endpoint, log } = this.context;
    if (this.state !== 'over')
      log.warn('rejected a message', { server: endpoint.server, method, ...details });
  }
}
