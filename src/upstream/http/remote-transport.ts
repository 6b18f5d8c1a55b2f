import type { Readable, Writable } from 'node:stream';
import { SwitchboardError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { SERVER_SHAPE } from '../../protocol/index.ts';
import { StreamTransport, type MessageTransport } from '../../wire/index.ts';
import type { Transport, TransportEvents } from '../transport.ts';
import type { RemoteTarget } from '../server.ts';
import type { ToolHeaders } from '../tool-headers.ts';
import { badStatus } from './failures.ts';
import { IncomingStream } from './incoming-stream.ts';
import { OutgoingStream, type Outgoing } from './outgoing-stream.ts';
import { RemoteEndpoint } from './remote-endpoint.ts';
import { Sse } from './sse.ts';
import { Streamable } from './streamable.ts';
import type { HttpRefusal, HttpTransport, HttpTransportContext } from './http-transport.ts';

export interface RemoteTransportOptions {
  /** Its name, for messages. */
  readonly server: string;
  readonly target: RemoteTarget;
  /** The largest message taken from the server, in bytes. */
  readonly messageBytes: number;
  readonly log: Logger;
  /** Which transport answered last time, where the target leaves it open; written when it is found, kept over several lives. */
  readonly verdict: { transport?: 'http' | 'sse' };
  /** What the server's tools want to see in headers. Default nothing. */
  readonly headers?: ToolHeaders;
}

/** Opens the way to a remote server. Nothing is sent before something is written to `output`. */
export function openRemoteTransport(options: RemoteTransportOptions, events: TransportEvents): RemoteLink {
  return new RemoteLink(options, events);
}

/** How long everything waits for the server to take `notifications/initialized`, in milliseconds. */
const GREETING_TIMEOUT_MS = 5000;

export class RemoteLink implements Transport {
  readonly pid = undefined;
  readonly #options: RemoteTransportOptions;
  readonly #events: TransportEvents;
  readonly #incoming = new IncomingStream();
  readonly #outgoing = new OutgoingStream((message) => this.#send(message));
  readonly #endpoint: RemoteEndpoint | SwitchboardError;
  #transport: HttpTransport | undefined;
  #messages: StreamTransport | undefined;
  /** Messages behind `notifications/initialized` while that is under way. */
  #held: Outgoing[] | undefined;
  /** The server has answered the handshake. */
  #suited = false;
  #stopping: Promise<void> | undefined;
  #over = false;

  constructor(options: RemoteTransportOptions, events: TransportEvents) {
    this.#options = options;
    this.#events = events;
    this.#endpoint = siteOf(options);
    if (this.#endpoint instanceof RemoteEndpoint) {
      const { target, verdict } = options;
      const known = target.transport === 'auto' ? verdict.transport : target.transport;
      const context = this.#context(this.#endpoint);
      this.#transport = known === 'sse' ? new Sse(context) : new Streamable(context);
    }
  }

  get messages(): MessageTransport {
    const { messageBytes } = this.#options;
    return (this.#messages ??= new StreamTransport(this.input, this.output, {
      shape: SERVER_SHAPE,
      replyInKind: false,
      messageBytes,
    }));
  }

  get input(): Readable {
    return this.#incoming.stream;
  }

  get output(): Writable {
    return this.#outgoing.stream;
  }

  get open(): boolean {
    return !this.#over && this.#transport?.open !== false;
  }

  lastWords(): string {
    return '';
  }

  inputEnded(): void {
    // Only we end it.
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#over = true;
    this.#held = undefined;
    await this.#transport?.stop();
    if (this.#endpoint instanceof RemoteEndpoint) await this.#endpoint.close();
    this.#outgoing.stream.destroy();
    this.#incoming.stream.destroy();
  }

  #send(message: Outgoing): void {
    if (this.#endpoint instanceof SwitchboardError) {
      message.sent();
      this.#unanswerable(message, this.#endpoint);
    } else if (this.#held !== undefined) {
      if (message.cancels > 0 && this.#withdraw(message)) message.sent();
      else this.#held.push(message);
    } else if (message.method === 'notifications/initialized') this.#initialize(message);
    else {
      // A handshake of the other era after a failure of the older transport: that one does not have it.
      if (message.method === 'server/discover' && this.#transport instanceof Sse)
        this.#transport = new Streamable(this.#context(this.#endpoint));
      void this.#transport!.send(message);
    }
  }

  #unanswerable(message: Outgoing, error: SwitchboardError): void {
    if (message.id === 0) return;
    queueMicrotask(() => {
      if (!this.#over) this.#events.unanswered(message.id, { kind: 'failed', error });
    });
  }

  /** What is cancelled before it was sent is not sent at all. */
  #withdraw({ cancels }: Outgoing): boolean {
    const at = this.#held!.findIndex(({ id }) => id === cancels);
    if (at < 0) return false;
    this.#held!.splice(at, 1)[0]!.sent();
    return true;
  }

  /** Requests that overtook this one would come to a server that does not know that we are ready. */
  #initialize(initialized: Outgoing): void {
    this.#held = [];
    const timer = setTimeout(() => this.#release(), GREETING_TIMEOUT_MS);
    void this.#transport!.send(initialized).then(() => {
      clearTimeout(timer);
      this.#release();
    });
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.#send(message);
  }

  #context(endpoint: RemoteEndpoint): HttpTransportContext {
    const { messageBytes, log, target, verdict, headers } = this.#options;
    return {
      endpoint,
      incomingStream: this.#incoming,
      messageBytes,
      log,
      headers,
      events: {
        unanswered: (id, failure) => {
          // One that does not work as it did last time may have become another.
          if (!this.#suited) delete verdict.transport;
          if (!this.#over) this.#events.unanswered(id, failure);
        },
        closed: () => this.#release(),
        ended: (end) => {
          if (!this.#over) this.#events.ended(end);
        },
        suits: () => {
          this.#suited = true;
          if (target.transport === 'auto')
            verdict.transport = this.#transport instanceof Sse ? 'sse' : 'http';
        },
        unsuitable: (initialize, refusal) => this.#tryOther(endpoint, initialize, refusal),
      },
    };
  }

  /** The server does not know Streamable HTTP, as its answer to `initialize` shows. */
  #tryOther(endpoint: RemoteEndpoint, initialize: Outgoing, refusal: HttpRefusal): void {
    if (this.#over) return;
    if (this.#options.target.transport !== 'auto') {
      const error = badStatus(endpoint, refusal.status, refusal.text);
      this.#events.unanswered(initialize.id, { kind: 'failed', error });
      return;
    }
    this.#transport = new Sse(this.#context(endpoint), refusal);
    void this.#transport.send(initialize);
  }
}

function siteOf({ server, target }: RemoteTransportOptions): RemoteEndpoint | SwitchboardError {
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
