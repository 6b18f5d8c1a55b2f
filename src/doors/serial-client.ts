import { setImmediate, setTimeout } from 'node:timers/promises';
import { Client } from '../protocol/index.ts';
import { idKey, RpcCode, type Message, type Peer } from '../wire/index.ts';
import type { EraDetectingClient } from './era-detect.ts';

/** So many requests, or bytes of them, may wait; beyond that the client is not listened to until some are done. */
const MAX_QUEUED = 1000;
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

/**
 * A request that runs for so long holds up no other, in milliseconds. A script that pipes in all it has to ask has closed
 * its end by then, or at least had the time to.
 */
const HOLD_MS = 500;

/** Something a client is to be answered, when its turn comes. */
interface QueuedRequest {
  /** The request; undefined for what was none, and is only refused. */
  readonly request: Message | undefined;
  readonly begin: () => void;
}

/**
 * The requests of one client, each begun when the one before it is answered, so that answers come in the order of the
 * requests. One that takes long lets the others pass while the client is there to ask: it may wait for minutes, and a
 * client that gets no answer to a ping takes us for dead. When the input has ended, the order counts alone: then a whole
 * session was piped in, and each request builds on the one before it. Notifications are heard at once: above all that a
 * request is not wanted any more.
 */
export class SerialClient {
  readonly #client: EraDetectingClient;
  readonly #peer: Peer;
  readonly #queue: QueuedRequest[] = [];
  #bytes = 0;
  #paused = false;
  #busy = false;
  /** Whether requests are begun as they come, because one takes long. */
  #passing = false;
  #ended = false;
  #working: Promise<void> | undefined;

  constructor(client: EraDetectingClient, peer: Peer) {
    this.#client = client;
    this.#peer = peer;
  }

  /** Whether requests are queued at the moment. */
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

  /** Answers something that is no request, when everything before it is answered. */
  refuse(answer: () => void): void {
    if (this.#passing) answer();
    else this.#add({ request: undefined, begin: answer });
  }

  /** The client will ask for nothing more. */
  ended(): void {
    this.#ended = true;
  }

  notification(message: Message): void {
    const cancels = message.string(Client.method) === 'notifications/cancelled';
    if (!cancels || !this.#forget(message.text(Client.requestId))) this.#client.notification(message);
  }

  /** Requests under way, or waiting for that. */
  get running(): number {
    return this.#client.running + this.#queue.length;
  }

  /** Resolves when everything that was received is answered. */
  async idle(): Promise<void> {
    await this.#working;
    await this.#client.idle();
  }

  /** Gives up what runs and what waits, and says so. */
  failAll(): void {
    const queued = this.#queue.splice(0);
    this.#bytes = 0;
    this.#client.failAll();
    for (const { request, begin } of queued) {
      if (request === undefined) begin();
      else {
        const message = `${request.string(Client.method)!.slice(0, 200)} was not begun: the server is stopping.`;
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
    if (!this.#busy) this.#working = this.#work();
    if (this.#isFull && !this.#paused) {
      this.#paused = true;
      this.#peer.pause();
    }
  }

  get #isFull(): boolean {
    return this.#queue.length >= MAX_QUEUED || this.#bytes >= MAX_QUEUED_BYTES;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      next.begin();
      await this.#answered();
      const { outbox } = this.#peer;
      // A client that does not read its answers gets no more of them.
      if (outbox.congested) await new Promise<void>((resolve) => outbox.whenDrained(resolve));
    }
    this.#busy = false;
  }

  /** Resolves when all that was begun is answered; what comes meanwhile is begun too, if that takes long. */
  async #answered(): Promise<void> {
    const answered = this.#client.idle();
    if (await isWithin(HOLD_MS, answered)) return;
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
      this.#peer.resume();
    }
    return next;
  }

  /** Whether a request with this id, given as JSON text, was still waiting; it is not answered then. */
  #forget(id: string | undefined): boolean {
    if (id === undefined) return false;
    const at = this.#queue.findIndex(
      ({ request }) => request !== undefined && idKey(request.text(Client.id)!) === idKey(id),
    );
    if (at === -1) return false;
    const [next] = this.#queue.splice(at, 1);
    this.#bytes -= next!.request!.length;
    return true;
  }
}

/** Whether something is done in time. What came in before the time was up has been heard of by then. */
async function isWithin(ms: number, work: Promise<void>): Promise<boolean> {
  const late = new AbortController();
  const done = work.then(() => true);
  const time = setTimeout(ms, undefined, { signal: late.signal, ref: false })
    .then(() => setImmediate(false))
    .catch(() => false);
  return Promise.race([done, time]).finally(() => late.abort());
}
