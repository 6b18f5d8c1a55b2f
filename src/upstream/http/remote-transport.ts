import { SwitchboardError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import type { SendFailure, Transport, TransportEvents } from '../transport.ts';
import type { RemoteTarget } from '../server.ts';
import type { ToolHeaders } from '../modern/tool-headers.ts';
import { badStatus } from './failures.ts';
import { Inbox } from './inbox.ts';
import { RemoteMessages, type Outgoing } from './remote-messages.ts';
import { RemoteEndpoint } from './remote-endpoint.ts';
import { Sse } from './sse.ts';
import { Streamable } from './streamable.ts';
import type { ErrorResponse, HttpTransport, HttpTransportContext } from './http-transport.ts';

export interface RemoteTransportOptions {
  /** The server's name. */
  readonly server: string;
  readonly target: RemoteTarget;
  /** The largest message accepted from the server, in bytes. */
  readonly messageBytes: number;
  readonly log: Logger;
  /**
   * The transport that the server used last, if the target leaves it open. Set once it is known; outlives this object.
   */
  readonly learned: { transport?: 'http' | 'sse' };
  /** The tool parameters that are sent in headers. Default: none. */
  readonly headers?: ToolHeaders;
}

/** How long messages wait for the server to accept `notifications/initialized`, in milliseconds. */
const INITIALIZED_TIMEOUT_MS = 5000;

/**
 * Carries messages to and from a remote server over Streamable HTTP or HTTP+SSE. Nothing is sent before the first
 * message.
 */
export class RemoteTransport implements Transport {
  readonly messages: RemoteMessages;
  readonly pid = undefined;
  readonly #options: RemoteTransportOptions;
  readonly #events: TransportEvents;
  readonly #inbox: Inbox;
  /** Undefined if the server's URL is invalid. */
  readonly #context: HttpTransportContext | undefined;
  #http: HttpTransport | SwitchboardError;
  /** The server has answered the handshake. */
  #supported = false;
  #stopping: Promise<void> | undefined;
  #over = false;

  constructor(options: RemoteTransportOptions, events: TransportEvents) {
    const { server, target, messageBytes, log, learned } = options;
    this.#options = options;
    this.#events = events;
    this.#inbox = new Inbox(messageBytes, (message) => log.warn(message, { server }));
    this.messages = new RemoteMessages(this.#inbox, (message) => this.#send(message));
    const endpoint = endpointOf(options);
    if (endpoint instanceof SwitchboardError) this.#http = endpoint;
    else {
      this.#context = this.#contextOf(endpoint);
      const known = target.transport === 'auto' ? learned.transport : target.transport;
      this.#http = known === 'sse' ? new Sse(this.#context) : new Streamable(this.#context);
    }
  }

  get open(): boolean {
    return !this.#over && (this.#http instanceof SwitchboardError || this.#http.open);
  }

  lastWords(): string {
    return '';
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#over = true;
    this.messages.close();
    if (!(this.#http instanceof SwitchboardError)) await this.#http.stop();
    await this.#context?.endpoint.close();
  }

  #send(message: Outgoing): void {
    // A handshake in another protocol version follows a failed HTTP+SSE, which does not support that version.
    if (message.method === 'server/discover' && this.#http instanceof Sse && !this.#over && this.#context)
      this.#http = new Streamable(this.#context);
    const http = this.#http;
    if (http instanceof SwitchboardError || !http.open) {
      message.sent();
      const notTaken: SendFailure = { kind: 'not-taken' };
      this.#inbox.abandon(
        message.id,
        http instanceof SwitchboardError ? { kind: 'failed', error: http } : notTaken,
      );
    } else if (message.method === 'notifications/initialized') this.#sendInitialized(message, http);
    else void http.send(message);
  }

  /** Requests that overtake this notification would reach a server that does not know that we are ready. */
  #sendInitialized(notification: Outgoing, http: HttpTransport): void {
    this.messages.hold();
    const accepted = Promise.resolve(http.send(notification));
    void withTimeout(accepted, INITIALIZED_TIMEOUT_MS, () => undefined).then(() => this.messages.release());
  }

  #contextOf(endpoint: RemoteEndpoint): HttpTransportContext {
    const { log, target, learned, headers } = this.#options;
    const context: HttpTransportContext = {
      endpoint,
      inbox: this.#inbox,
      log,
      headers,
      events: {
        unanswered: (id, failure) => {
          // The server may support a different transport than last time.
          if (!this.#supported) delete learned.transport;
          this.#inbox.abandon(id, failure);
        },
        ended: (end) => {
          if (this.#over) return;
          // The held messages were not sent, so the next run of the server may take them.
          this.messages.release();
          this.#events.ended(end);
        },
        supported: () => {
          this.#supported = true;
          if (target.transport === 'auto') learned.transport = this.#http instanceof Sse ? 'sse' : 'http';
        },
        unsupported: (initialize, response) => this.#tryOther(context, initialize, response),
      },
    };
    return context;
  }

  /** The response to `initialize` shows that the server does not support Streamable HTTP. */
  #tryOther(context: HttpTransportContext, initialize: Outgoing, response: ErrorResponse): void {
    if (this.#over) return;
    if (this.#options.target.transport !== 'auto') {
      const error = badStatus(context.endpoint, response.status, response.text);
      this.#inbox.abandon(initialize.id, { kind: 'failed', error });
      return;
    }
    this.#http = new Sse(context, response);
    void this.#http.send(initialize);
  }
}

function endpointOf({ server, target }: RemoteTransportOptions): RemoteEndpoint | SwitchboardError {
  try {
    const { protocol } = new URL(target.url);
    if (protocol === 'http:' || protocol === 'https:') return new RemoteEndpoint(server, target);
  } catch {
    // Its message would show the address.
  }
  return new SwitchboardError(
    'START_FAILED',
    `Server '${server}' has a url that is not an http: or https: address: ${target.shown.url}`,
    { hint: 'Correct url in the configuration.' },
  );
}
