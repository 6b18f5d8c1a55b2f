import { randomBytes } from 'node:crypto';
import { Client } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';

/** A request that waits for its client to retry it. */
export interface Suspendable {
  /** Roughly how much it holds, in bytes. */
  readonly bytes: number;
  /** The client has not retried it in time. */
  expire(): void;
}

export interface SuspendedRequestsOptions {
  /**
   * How long a client may take to retry, in milliseconds. Default ten minutes, because a person often has to answer.
   */
  readonly ageMs?: number;
  /** How many may wait at the same time. Default 1000. */
  readonly maxRequests?: number;
  /** How much they may hold in total, in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Turns random text into a text that says which gateway created it. Default: there is only one gateway. */
  readonly ownedId?: (random: string) => string;
}

interface Entry<W> {
  readonly request: W;
  /** What it holds. */
  bytes: number;
  readonly timer: NodeJS.Timeout;
}

/** The prefix that distinguishes our states from those of servers. */
const STATE_PREFIX = 'switchboard.';
const ID_BYTES = 32;

/** The error for a state that matches no request. */
export const UNKNOWN_STATE =
  'Invalid params: requestState is unknown, has been used or is too old. Send the request again without it.';

/**
 * Calls that were answered with `input_required`, until their client retries with the input. The `requestState` is an
 * unguessable key that is valid once.
 */
export class SuspendedRequests<W extends Suspendable> {
  readonly #options: Required<SuspendedRequestsOptions>;
  /** Oldest first. */
  readonly #byState = new Map<string, Entry<W>>();
  #bytes = 0;

  constructor(options: SuspendedRequestsOptions = {}) {
    this.#options = {
      ageMs: 600_000,
      maxRequests: 1000,
      maxBytes: 64 * 1024 * 1024,
      ownedId: (random) => random,
      ...options,
    };
  }

  get size(): number {
    return this.#byState.size;
  }

  /** All waiting requests, newest first. */
  get all(): W[] {
    return [...this.#byState.values()].map(({ request }) => request).reverse();
  }

  /** Whether a state is ours and not a server's. */
  static isOurs(state: string): boolean {
    return state.startsWith(STATE_PREFIX);
  }

  /** The id in a request's state, if the state is ours; otherwise undefined. */
  static idIn(request: Message): string | undefined {
    const state = request.has(Client.requestState) ? request.string(Client.requestState) : undefined;
    return state !== undefined && SuspendedRequests.isOurs(state)
      ? state.slice(STATE_PREFIX.length)
      : undefined;
  }

  /** Suspends a request. Returns the state for the retry; undefined if there is no room. */
  add(request: W): string | undefined {
    const { bytes } = request;
    const { ageMs, maxRequests, maxBytes, ownedId } = this.#options;
    if (this.#byState.size >= maxRequests || this.#bytes + bytes > maxBytes) return undefined;
    const state = STATE_PREFIX + ownedId(randomBytes(ID_BYTES).toString('base64url'));
    const timer = setTimeout(() => this.take(state)?.expire(), ageMs).unref();
    this.#byState.set(state, { request, bytes, timer });
    this.#bytes += bytes;
    return state;
  }

  /** Adds to the size of a suspended request. Returns false if there is no room. */
  addBytes(state: string, bytes: number): boolean {
    const found = this.#byState.get(state);
    if (found === undefined || this.#bytes + bytes > this.#options.maxBytes) return false;
    found.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** Removes and returns the request of a state, which is then used up. */
  take(state: string): W | undefined {
    const found = this.#byState.get(state);
    if (found === undefined) return undefined;
    clearTimeout(found.timer);
    this.#byState.delete(state);
    this.#bytes -= found.bytes;
    return found.request;
  }

  /** Expires all requests. */
  close(): void {
    for (const state of [...this.#byState.keys()]) this.take(state)?.expire();
  }
}
