import type { IncomingMessage } from 'node:http';
import { Envelope, PendingRequests, type Message } from '../../wire/index.ts';
import type { TransportEnd } from '../transport.ts';
import { PendingPost, type PendingPostEvents, type PostOutcome } from './pending-post.ts';
import { discard, HttpRequest, typeOf, type HttpOutcome } from './http-request.ts';
import { broken, noHttpAnswer, notConnected, httpStartFailed, serverUnreachable } from './failures.ts';
import { agreedVersion, answeredId } from './incoming.ts';
import { GetStream } from './get-stream.ts';
import { modernHeaders } from './modern-headers.ts';
import type { Outgoing } from './outgoing.ts';
import { NOTIFICATION_TIMEOUT_MS, type HttpTransport, type HttpTransportContext } from './http-transport.ts';

/** How long other requests may wait for their answer or rejection once the session is lost, in milliseconds. */
const SESSION_LOST_TIMEOUT_MS = 2000;
const DELETE_TIMEOUT_MS = 1000;

/** Streamable HTTP: every message is a POST, and a request is answered with JSON or with an event stream. */
export class Streamable implements HttpTransport {
  readonly #context: HttpTransportContext;
  readonly #posts = new PendingRequests<PendingPost>();
  readonly #postEvents: PendingPostEvents = {
    othersServed: (post) => this.#othersServed(post),
    accepted: (post, response) => {
      if (post.message.method === 'initialize') this.#context.endpoint.session = sessionOf(response);
    },
    arrived: (post, message) => {
      if (answeredId(message) === post.message.id) this.#learn(post.message.method, message);
      this.#arrived(message, post.message.id);
    },
    invalid: (id) => this.#invalid(id),
    settled: (post, outcome) => this.#settled(post, outcome),
  };
  /** Notifications and responses that are being sent. */
  readonly #sending = new Set<HttpRequest>();
  #getStream: GetStream | undefined;
  #state: 'open' | 'session-lost' | 'over' = 'open';
  #sessionLostTimer: NodeJS.Timeout | undefined;
  /** As far as we know, the server still has the session. */
  #sessionKnown = true;
  /** The last handshake was that of 2026-07-28, which has neither a session nor a stream of the server's own. */
  #modern = false;

  constructor(context: HttpTransportContext) {
    this.#context = context;
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  send(message: Outgoing): Promise<void> | undefined {
    if (this.#state !== 'open') {
      message.sent();
      if (message.id > 0) this.#context.events.unanswered(message.id, { kind: 'not-taken' });
      return undefined;
    }
    if (message.id > 0) {
      this.#sendRequest(message);
      return undefined;
    }
    const cancelled = this.#posts.get(message.cancels);
    if (this.#modern) {
      // A modern server gets requests only; one is cancelled by closing its connection.
      message.sent();
      cancelled?.drop();
      return undefined;
    }
    return cancelled === undefined ? this.#sendOther(message) : this.#cancel(message, cancelled);
  }

  async stop(): Promise<void> {
    const { endpoint } = this.#context;
    this.#finish();
    if (endpoint.session === undefined || !this.#sessionKnown) return;
    await new Promise((ended) => {
      new HttpRequest(endpoint, { method: 'DELETE', timeoutMs: DELETE_TIMEOUT_MS }, { ended });
    });
  }

  #sendRequest(message: Outgoing): void {
    const { endpoint, headers } = this.#context;
    const modern = message.method === 'server/discover';
    if (modern || message.method === 'initialize') {
      this.#modern = modern;
      endpoint.session = endpoint.version = undefined;
    }
    const options = this.#modern ? { headers: modernHeaders(message, headers), resumable: false } : undefined;
    this.#posts.add(message.id, new PendingPost(message, this.#context, this.#postEvents, options));
  }

  /** Learns from the answer to a handshake. */
  #learn(method: string | undefined, answer: Message): void {
    const { endpoint, events } = this.#context;
    if (method === 'initialize') endpoint.version = agreedVersion(answer);
    if (method === 'initialize' || (method === 'server/discover' && answer.has(Envelope.result)))
      events.supported();
  }

  /** `requestId` is the request on whose response the message arrived. */
  #arrived(message: Message, requestId?: number): void {
    this.#posts.get(answeredId(message))?.answered();
    this.#context.inbox.deliver(message, requestId);
  }

  #invalid(id: number): void {
    const { endpoint, log } = this.#context;
    log.warn('sent an event that is not a message', { server: endpoint.server });
    this.#posts.get(id)?.answeredInvalid();
  }

  #settled(post: PendingPost, outcome: PostOutcome): void {
    const { id, method } = post.message;
    const { endpoint, events } = this.#context;
    this.#posts.take(id);
    switch (outcome.kind) {
      case 'answered':
      case 'dropped':
        break;
      case 'session-lost':
        if (this.#state !== 'over') events.unanswered(id, outcome.failure);
        this.#loseSession();
        break;
      case 'unsupported':
        events.unsupported(post.message, outcome.response);
        break;
      case 'unreachable':
        if (method === 'initialize' || method === 'server/discover')
          events.unanswered(id, { kind: 'failed', error: httpStartFailed(endpoint, outcome.cause) });
        // The change stream retries for as long as it has subscribers; only a call needs to know that the server is gone.
        else if (method === 'subscriptions/listen')
          events.unanswered(id, { kind: 'failed', error: broken(endpoint, outcome.cause) });
        else if (this.#state === 'open' && this.#othersServed(post))
          events.unanswered(id, { kind: 'failed', error: notConnected(endpoint, outcome.cause) });
        else {
          events.unanswered(id, { kind: 'not-taken' });
          this.#loseServer(outcome.cause);
        }
        break;
      default:
        events.unanswered(id, outcome);
    }
    this.#endIfSessionLost();
  }

  /** Whether the server is processing other requests. They have their own connections and must not fail with this one. */
  #othersServed(post: PendingPost): boolean {
    return this.#posts.all().some((other) => other !== post && other.served);
  }

  /** Sends a notification or a response. Resolves when the server has accepted it or never will. */
  async #sendOther(message: Outgoing): Promise<void> {
    const hadSession = this.#context.endpoint.session !== undefined;
    const outcome = await new Promise<HttpOutcome>((resolve) => {
      const request = new HttpRequest(
        this.#context.endpoint,
        { method: 'POST', body: message, timeoutMs: NOTIFICATION_TIMEOUT_MS },
        {
          sent: () => message.sent(),
          ended: (result) => {
            this.#sending.delete(request);
            resolve(result);
          },
        },
      );
      this.#sending.add(request);
    });
    if (outcome.kind === 'answered') this.#accepted(message, outcome.response, outcome.status, hadSession);
    else if (outcome.kind !== 'dropped') {
      const reason = outcome.kind === 'refused' ? outcome.error.message : outcome.kind;
      this.#warnRejected(message, { reason });
    }
  }

  #accepted(message: Outgoing, response: IncomingMessage, status: number, hadSession: boolean): void {
    if (this.#state === 'over') {
      response.destroy();
      return;
    }
    const success = status >= 200 && status <= 299;
    if (success && typeOf(response) === 'text/event-stream') this.#readEvents(response);
    else discard(response);
    if (success && message.method === 'notifications/initialized') this.#openGetStream();
    else if (status === 404 && hadSession) this.#loseSession();
    else if (!success) this.#warnRejected(message, { status });
  }

  #warnRejected({ method }: Outgoing, details: object): void {
    const { endpoint, log } = this.#context;
    if (this.#state !== 'over')
      log.warn('rejected a message', { server: endpoint.server, method, ...details });
  }

  /** Reads an event stream that belongs to no request, though none was due. */
  #readEvents(response: IncomingMessage): void {
    const timer = setTimeout(() => response.destroy(), NOTIFICATION_TIMEOUT_MS);
    this.#context.inbox.readEvents(response, undefined, {
      message: (message) => this.#arrived(message),
      invalid: (id) => this.#invalid(id),
      oversize: () => response.destroy(),
      ended: () => clearTimeout(timer),
    });
  }

  /** Sends a cancellation after the request that it cancels, whose connection is closed then. */
  async #cancel(message: Outgoing, post: PendingPost): Promise<void> {
    if (post.connected) {
      await post.taken();
      await this.#sendOther(message);
    } else message.sent();
    post.drop();
  }

  #openGetStream(): void {
    if (this.#state !== 'open' || this.#getStream !== undefined) return;
    this.#getStream = new GetStream(this.#context, {
      arrived: (message) => this.#arrived(message),
      invalid: (id) => this.#invalid(id),
      sessionLost: () => this.#loseSession(),
    });
  }

  /** The server no longer knows the session. Other requests are about to be rejected too, or answered. */
  #loseSession(): void {
    this.#sessionKnown = false;
    if (this.#state !== 'open') return;
    this.#state = 'session-lost';
    this.#getStream?.stop();
    this.#context.events.closed();
    this.#sessionLostTimer = setTimeout(() => this.#end({ kind: 'session-lost' }), SESSION_LOST_TIMEOUT_MS);
    this.#endIfSessionLost();
  }

  #endIfSessionLost(): void {
    if (this.#state === 'session-lost' && this.#posts.size === 0) this.#end({ kind: 'session-lost' });
  }

  /** No connection can be made, and none is open. */
  #loseServer(cause: unknown): void {
    this.#sessionKnown = false;
    if (this.#state !== 'open') return;
    this.#state = 'session-lost';
    this.#context.events.closed();
    this.#end({ kind: 'lost', how: serverUnreachable(this.#context.endpoint, cause) });
  }

  #end(end: TransportEnd): void {
    if (this.#state === 'over') return;
    const { endpoint, events } = this.#context;
    const left = this.#posts.all();
    this.#finish();
    const how = end.kind === 'lost' ? end.how : 'lost the session before it responded';
    const error = noHttpAnswer(endpoint, how);
    for (const { message, connected } of left)
      events.unanswered(message.id, connected ? { kind: 'failed', error } : { kind: 'not-taken' });
    events.ended(end);
  }

  #finish(): void {
    this.#state = 'over';
    clearTimeout(this.#sessionLostTimer);
    this.#getStream?.stop();
    for (const post of this.#posts.all()) post.drop();
    for (const request of [...this.#sending]) request.drop();
  }
}

/** The session that the server assigned in its response, if it fits a header. */
function sessionOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['mcp-session-id'];
  return typeof given === 'string' && /^[\x21-\x7e]+$/.test(given) ? given : undefined;
}
