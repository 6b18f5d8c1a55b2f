import { Client } from '../protocol/index.ts';
import { idKey, RpcCode, type Message, type Peer } from '../wire/index.ts';
import type { ClientConnection, EraDetectingClient } from './client.ts';
import { waitAtMost } from './wait-at-most.ts';

/** The limits of the queue, in requests and bytes; above them the client's input is paused. */
const MAX_QUEUED = 1000;
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

/**
 * A request that runs longer than this no longer blocks the others, in milliseconds. A script that pipes in all its
 * requests has closed its end by then.
 */
const HOLD_MS = 500;

/** A queued request, or the error for a message that is not a request. */
interface QueuedRequest {
  /** Undefined for a message that is refused. */
  readonly request: Message | undefined;
  readonly begin: () => void;
}

/**
 * Runs the requests of one client one after another, so that answers have the order of the requests. While the input is
 * open, a slow request does not block the others: it may take minutes, and a client whose ping is not answered would
 * give up on us. Once the input has ended, the order always counts: a whole session was piped in, and each request
 * builds on the previous one. Notifications, above all cancellations, are handled at once.
 */
export class SerialClient implements ClientConnection {
  readonly #client: EraDetectingClient;
  readonly #peer: Peer;
  readonly #queue: QueuedRequest[] = [];
  #bytes = 0;
  #paused = false;
  /** Whether requests run as they arrive, because one of them is slow. */
  #passing = false;
  #ended = false;
  #working: Promise<void> | undefined;

  constructor(client: EraDetectingClient, peer: Peer) {
    this.#client = client;
    this.#peer = peer;
  }

  /** Whether requests are currently queued. */
  get queues(): boolean {
    return !this.#passing;
  }

  request(message: Message): void {
    if (this.#passing) {
      this.#client.request(message);
      return;
    }
    this.#bytes += message.length;
    this.#add({ request: message, begin: () => this.#client.request(message) });
  }

  /** Answers a message that is not a request, after all messages before it. */
  refuse(answer: () => void): void {
    if (this.#passing) answer();
    else this.#add({ request: undefined, begin: answer });
  }

  /** The client's input has ended. */
  ended(): void {
    this.#ended = true;
  }

  notification(message: Message): void {
    const cancels = message.string(Client.method) === 'notifications/cancelled';
    if (!cancels || !this.#forget(message.text(Client.requestId))) this.#client.notification(message);
  }

  get version(): string | undefined {
    return this.#client.version;
  }

  /** The number of running and queued requests. */
  get running(): number {
    return this.#client.running + this.#queue.length;
  }

  /** Resolves when every message received so far is answered. */
  async idle(): Promise<void> {
    await this.#working;
    await this.#client.idle();
  }

  /** Answers running and queued requests with an error. */
  failAll(): void {
    const queued = this.#queue.splice(0);
    this.#bytes = 0;
    this.#client.failAll();
    for (const { request, begin } of queued) {
      if (request === undefined) begin();
      else {
        const message = `${request.requiredString(Client.method).slice(0, 200)} was not started: the server is stopping.`;
        this.#peer.fail(request.text(Client.id), RpcCode.internalError, message);
      }
    }
  }

  leave(): void {
    this.#queue.length = 0;
    this.#client.leave();
  }

  #add(next: QueuedRequest): void {
    this.#queue.push(next);
    this.#working ??= this.#work();
    if (this.#isFull && !this.#paused) {
      this.#paused = true;
      this.#peer.transport.pause();
    }
  }

  get #isFull(): boolean {
    return this.#queue.length >= MAX_QUEUED || this.#bytes >= MAX_QUEUED_BYTES;
  }

  async #work(): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      next.begin();
      await this.#answered();
      const { transport } = this.#peer;
      // A client that does not read its answers gets no further ones.
      if (transport.congested) await new Promise<void>((resolve) => transport.whenDrained(resolve));
    }
    this.#working = undefined;
  }

  /** Resolves when all running requests are answered; lets new requests pass if that takes long. */
  async #answered(): Promise<void> {
    const answered = this.#client.idle();
    if (await waitAtMost(HOLD_MS, answered)) return;
    if (this.#ended) return answered;
    this.#passing = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.begin();
    await this.#client.idle();
    this.#passing = false;
  }

  #next(): QueuedRequest | undefined {
    const next = this.#queue.shift();
    this.#bytes -= next?.request?.length ?? 0;
    if (this.#paused && !this.#isFull) {
      this.#paused = false;
      this.#peer.transport.resume();
    }
    return next;
  }

  /** Removes a queued request by its id, given as JSON text; it is not answered. Returns whether it was queued. */
  #forget(id: string | undefined): boolean {
    if (id === undefined) return false;
    const at = this.#queue.findIndex(
      ({ request }) => request !== undefined && idKey(request.requiredText(Client.id)) === idKey(id),
    );
    if (at === -1) return false;
    const [next] = this.#queue.splice(at, 1);
    this.#bytes -= next?.request?.length ?? 0;
    return true;
  }
}
