import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Gateway } from '../gateway/index.ts';
import { Client } from '../protocol/index.ts';
import { RpcCode, type Message, type Peer } from '../wire/index.ts';
import { LegacyClient } from './legacy-client.ts';
import type { ServerIdentity } from './server-identity.ts';
import type { ModernEndpoint } from './modern/endpoint.ts';

/**
 * A client on one connection, of either era: its first request decides. After `initialize` the era is fixed; a client
 * that began as modern may still switch to the handshake.
 */
export class EraDetectingClient {
  readonly #peer: Peer;
  readonly #gateway: Gateway;
  readonly #identity: ServerIdentity;
  readonly #log: Logger;
  readonly #legacy: LegacyClient;
  #modern: ModernEndpoint | undefined;
  #era: 'open' | 'legacy' | 'modern' = 'open';
  /** Messages that arrived while the code for the modern era was loading. */
  #queued: Message[] | undefined;
  #loading: Promise<void> | undefined;

  constructor(peer: Peer, gateway: Gateway, identity: ServerIdentity, log: Logger) {
    this.#peer = peer;
    this.#gateway = gateway;
    this.#identity = identity;
    this.#log = log;
    this.#legacy = new LegacyClient(peer, gateway, identity, log);
  }

  request(message: Message): void {
    if (this.#era === 'legacy') this.#legacy.request(message);
    else this.#detect(message);
  }

  notification(message: Message): void {
    if (this.#queued) this.#queued.push(message);
    else if (this.#era === 'modern') this.#modern!.notification(message);
    else this.#legacy.notification(message);
  }

  /** The number of running requests. */
  get running(): number {
    return this.#legacy.session.running + (this.#modern?.running ?? 0) + (this.#queued?.length ?? 0);
  }

  /** Resolves when no request is running. */
  async idle(): Promise<void> {
    await this.#loading;
    await Promise.all([this.#legacy.session.idle(), this.#modern?.idle()]);
  }

  failAll(): void {
    this.#legacy.session.failAll();
    this.#modern?.failAll();
  }

  /** The client has disconnected: its requests are cancelled. */
  leave(): void {
    this.#legacy.session.cancelAll();
    this.#legacy.leave();
    this.#modern?.leave(this.#peer);
    this.#modern?.close();
  }

  #detect(message: Message): void {
    const method = message.string(Client.method)!;
    if (this.#queued) this.#queued.push(message);
    else if (method === 'initialize') {
      this.#era = 'legacy';
      this.#legacy.request(message);
    } else if (this.#modern) this.#modern.request(message, this.#peer, method);
    else if (this.#peer.transport.framing !== 'content-length' && opensModern(message, method))
      this.#load(message);
    else {
      // A host that frames with Content-Length may skip initialize; every other one gets an error.
      this.#legacy.request(message);
    }
  }

  /** Loaded for the first modern client: most are legacy, and wait for our start. */
  #load(first: Message): void {
    this.#era = 'modern';
    this.#queued = [first];
    this.#loading = import('./modern/endpoint.ts').then(
      ({ ModernEndpoint }) => {
        this.#modern = new ModernEndpoint({
          gateway: this.#gateway,
          identity: this.#identity,
          log: this.#log,
          singleUser: true,
        });
        // Every request of this era has `_meta` members, which are rare members of the shape.
        this.#peer.transport.readRareMembers();
        const queued = this.#queued ?? [];
        this.#queued = undefined;
        for (const message of queued) {
          if (message.has(Client.id)) this.request(message);
          else this.notification(message);
        }
      },
      (error: unknown) => this.#loadFailed(error),
    );
  }

  /** The program was replaced on disk while it runs. */
  #loadFailed(error: unknown): void {
    this.#log.error('the code for modern clients could not be loaded', { reason: messageOf(error) });
    const queued = this.#queued ?? [];
    this.#queued = undefined;
    this.#era = 'open';
    for (const message of queued)
      if (message.has(Client.id))
        this.#peer.fail(
          message.text(Client.id),
          RpcCode.internalError,
          'Internal error: restart the gateway.',
        );
  }
}

function opensModern(message: Message, method: string): boolean {
  return method === 'server/discover' || message.has(Client.version);
}
