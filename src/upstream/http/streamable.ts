import type { IncomingMessage } from 'node:http';
import {
  destroyAfter,
  discard,
  HttpRequest,
  isEventStream,
  NOTIFICATION_TIMEOUT_MS,
} from './http-request.ts';
import { HttpTransport } from './http-transport.ts';
import { modernHeaders } from './modern-headers.ts';
import type { Outgoing } from './remote-messages.ts';
import type { PendingPost, PendingPostOptions } from './pending-post.ts';
import { ResumableStream, type StreamEnd } from './resumable-stream.ts';

const DELETE_TIMEOUT_MS = 1000;

/** Streamable HTTP: a request is answered with JSON or with an event stream. */
export class Streamable extends HttpTransport {
  /** The last handshake was that of 2026-07-28, which has neither sessions nor a separate stream for the server. */
  #modern = false;
  /** The stream for messages of the server that belong to no request. */
  #getStream: ResumableStream | undefined;
  /** Whether the server has offered such a stream. */
  #offersGetStream = false;

  override send(message: Outgoing): Promise<void> | undefined {
    const { endpoint } = this.context;
    const modern = message.method === 'server/discover';
    if (modern || message.method === 'initialize') {
      this.#modern = modern;
      endpoint.session = endpoint.version = undefined;
    }
    if (message.id > 0 || !this.#modern) return super.send(message);
    // A modern server receives only requests; a request is cancelled by closing its connection.
    message.sent();
    this.posts.get(message.cancels)?.drop();
    return undefined;
  }

  override async stop(): Promise<void> {
    const { endpoint } = this.context;
    const hasSession = this.open && endpoint.session !== undefined;
    this.finish();
    if (hasSession)
      await new HttpRequest(endpoint, { method: 'DELETE', timeoutMs: DELETE_TIMEOUT_MS }).outcome;
  }

  protected override optionsOf(message: Outgoing): PendingPostOptions {
    const { headers } = this.context;
    return this.#modern ? { headers: modernHeaders(message, headers), resumable: false } : {};
  }

  protected override responded(message: Outgoing, response: IncomingMessage, status: number): void {
    const success = status >= 200 && status <= 299;
    if (status === 404 && this.context.endpoint.session !== undefined) {
      discard(response);
      this.loseSession();
    } else if (success && isEventStream(response)) this.#readEvents(response);
    else super.responded(message, response, status);
    if (success && message.method === 'notifications/initialized') this.#openGetStream();
  }

  protected override loseSession(): void {
    this.#getStream?.drop();
    super.loseSession();
  }

  protected override finish(): PendingPost[] {
    this.#getStream?.drop();
    return super.finish();
  }

  /** Reads an unexpected event stream that belongs to no request. */
  #readEvents(response: IncomingMessage): void {
    destroyAfter(response, NOTIFICATION_TIMEOUT_MS);
    const oversize = (): void => void response.destroy();
    void this.context.inbox.readEvents(response, {
      ...this.streamEvents,
      oversize,
      flooded: () => undefined,
    });
  }

  #openGetStream(): void {
    if (!this.open || this.#getStream !== undefined) return;
    const { endpoint, log } = this.context;
    this.#getStream = new ResumableStream(this.context, {
      ...this.streamEvents,
      oversize: () => log.warn('dropped a message over the limit', { server: endpoint.server }),
      flooded: () => this.#getStream?.drop(),
      resumes: (end) => this.#resumesGetStream(end),
    });
    void this.#getStream.open();
  }

  #resumesGetStream(end: StreamEnd): boolean {
    const { endpoint, log } = this.context;
    const { server } = endpoint;
    switch (end.kind) {
      case 'rejected':
        if (end.status >= 500 && end.status !== 501) return true;
        // A server without this stream often has no route for it either: a 404 means that the session is lost only if
        // the stream existed before.
        if (end.status === 404 && this.#offersGetStream && endpoint.session !== undefined) this.loseSession();
        else log.debug('offers no event stream', { server, status: end.status });
        return false;
      case 'refused':
        log.debug('offers no event stream', { server, reason: end.error.message });
        return false;
      default:
        this.#offersGetStream ||= end.kind === 'ended';
        return true;
    }
  }
}
