import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Gateway } from '../gateway/index.ts';
import { Client, CLIENT_SHAPE } from '../protocol/index.ts';
import { faultError, Peer, RpcCode, type Message, type MessageTransport } from '../wire/index.ts';
import { LegacyClient } from './legacy-client.ts';
import type { ModernEndpoint } from './modern/endpoint.ts';
import { SerialClient } from './serial-client.ts';
import type { ServerIdentity } from './server-identity.ts';

export interface ClientOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /** Whether requests are answered one after another, in the order they arrived, unless one is slow. Default false. */
  readonly inOrder?: boolean;
}

/** One client, connected to the gateway. */
export interface ClientConnection {
  /** The protocol version agreed on in a handshake; undefined before the handshake, or if there is none. */
  readonly version: string | undefined;
  /** The number of running requests. */
  readonly running: number;
  /** Resolves when no request is running. */
  idle(): Promise<void>;
  /** Answers the running requests with an error. */
  failAll(): void;
  /** The client disconnected: its requests are cancelled. */
  leave(): void;
}

/** Connects one client to the gateway. Calls `ended` when its transport has no more messages. */
export function connectClient(
  transport: MessageTransport,
  options: ClientOptions,
  ended: (why: 'end' | 'overrun') => void = () => undefined,
): ClientConnection {
  let dropped = 0;
  const peer: Peer = new Peer(transport, CLIENT_SHAPE, {
    request: (message) => {
      client.request(message);
      // Stop reading a client that does not read its answers.
      if (!transport.congested || serial?.queues === true) return;
      transport.pause();
      transport.whenDrained(() => transport.resume());
    },
    notification: (message) => client.notification(message),
    refused: (refusal, id) => {
      const { code, message } = faultError(refusal);
      // An id found in invalid JSON cannot be trusted.
      const answer = (): void => peer.fail(refusal === 'malformed' ? undefined : id, code, message);
      if (serial) serial.refuse(answer);
      else answer();
    },
    dropped: (why) => {
      dropped++;
      if (dropped === 1 || dropped % 1000 === 0)
        options.log.debug('dropped a message from the host', { why, count: dropped });
    },
    ended: (why) => {
      serial?.ended();
      ended(why);
    },
  });
  const eraClient = new EraDetectingClient(peer, options);
  const serial = options.inOrder === true ? new SerialClient(eraClient, peer) : undefined;
  const client = serial ?? eraClient;
  return client;
}

/**
 * A client of either era on one connection. Its first request decides the era. After `initialize` the era is fixed; a
 * client that started as modern may still switch to the handshake.
 */
export class EraDetectingClient implements ClientConnection {
  readonly #peer: Peer;
  readonly #options: ClientOptions;
  readonly #legacy: LegacyClient;
  #modern: ModernEndpoint | undefined;
  #era: 'open' | 'legacy' | 'modern' = 'open';
  /** Messages that arrived while the code for the modern era was being loaded. */
  #queued: Message[] | undefined;
  #loading: Promise<void> | undefined;

  constructor(peer: Peer, options: ClientOptions) {
    this.#peer = peer;
    this.#options = options;
    this.#legacy = new LegacyClient(peer, options);
  }

  request(message: Message): void {
    if (this.#era === 'legacy') this.#legacy.request(message);
    else this.#detect(message);
  }

  notification(message: Message): void {
    if (this.#queued) this.#queued.push(message);
    else if (this.#era === 'modern') this.#modern?.notification(message);
    else this.#legacy.notification(message);
  }

  get version(): string | undefined {
    return this.#legacy.version;
  }

  get running(): number {
    return this.#legacy.session.running + (this.#modern?.running ?? 0) + (this.#queued?.length ?? 0);
  }

  async idle(): Promise<void> {
    await this.#loading;
    await Promise.all([this.#legacy.session.idle(), this.#modern?.idle()]);
  }

  failAll(): void {
    this.#legacy.session.failAll();
    this.#modern?.failAll();
  }

  leave(): void {
    this.#legacy.session.cancelAll();
    this.#legacy.leave();
    this.#modern?.leave(this.#peer);
    this.#modern?.close();
    this.#peer.close();
  }

  #detect(message: Message): void {
    const method = message.requiredString(Client.method);
    if (this.#queued) this.#queued.push(message);
    else if (method === 'initialize') {
      this.#era = 'legacy';
      this.#legacy.request(message);
    } else if (this.#modern) this.#modern.request(message, this.#peer, method);
    else if (this.#peer.transport.framing !== 'content-length' && opensModern(message, method)) {
      this.#era = 'modern';
      this.#queued = [message];
      this.#loading = this.#load(this.#queued);
    } else {
      // A host that frames with Content-Length may skip initialize; any other client gets an error.
      this.#legacy.request(message);
    }
  }

  /**
   * Loads the code for the first modern client. Not loaded at startup, because most clients are legacy and would have
   * to wait.
   */
  async #load(queued: readonly Message[]): Promise<void> {
    try {
      const { ModernEndpoint } = await import('./modern/endpoint.ts');
      this.#modern = new ModernEndpoint({ ...this.#options, singleUser: true });
      // Every request of this era has `_meta` members, which the shape declares as rare.
      this.#peer.transport.readRareMembers();
    } catch (error) {
      // The program was replaced on disk while it was running.
      this.#options.log.error('the code for modern clients could not be loaded', {
        reason: messageOf(error),
      });
      this.#era = 'open';
    }
    this.#queued = undefined;
    for (const message of queued) {
      const id = message.text(Client.id);
      if (this.#modern === undefined) {
        if (id !== undefined)
          this.#peer.fail(id, RpcCode.internalError, 'Internal error: restart the gateway.');
      } else if (id !== undefined) this.request(message);
      else this.notification(message);
    }
  }
}

function opensModern(message: Message, method: string): boolean {
  return method === 'server/discover' || message.has(Client.version);
}
