import { randomBytes } from 'node:crypto';

/** Something that waits for its client to come back. */
export interface Suspendable {
  /** How much it holds, in bytes, roughly. */
  readonly bytes: number;
  /** The client has not come back in time, or there are too many: nobody waits for it any more. */
  expire(): void;
}

export interface SuspendedRequestsOptions {
  /** How long a client may take to come back, in milliseconds. Default ten minutes: often a person has to answer. */
  readonly ageMs?: number;
  /** How many may wait at one time. Default 1000. */
  readonly maxRequests?: number;
  /** How much they may hold together, in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
}

interface Entry<W> {
  readonly request: W;
  /** What it holds. */
  bytes: number;
  /** On the performance clock. */
  readonly until: number;
}

/** What every state of ours begins with, so that it is told apart from those that servers give out. */
const STATE_PREFIX = 'switchboard.';
const ID_BYTES = 32;

/**
 * Calls that have been answered with a question, until their client comes back with the answer. The state it brings
 * back is a name that cannot be guessed and is good for once.
 */
export class SuspendedRequests<W extends Suspendable> {
  readonly #ageMs: number;
  readonly #maxRequests: number;
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #byState = new Map<string, Entry<W>>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({
    ageMs = 600_000,
    maxRequests = 1000,
    maxBytes = 64 * 1024 * 1024,
  }: SuspendedRequestsOptions = {}) {
    this.#ageMs = ageMs;
    this.#maxRequests = maxRequests;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#byState.size;
  }

  /** All that wait, the newest first. */
  get all(): W[] {
    return [...this.#byState.values()].map(({ request }) => request).reverse();
  }

  /** Whether a state was given out by one of us; then no server is asked about it. */
  static isOurs(state: string): boolean {
    return state.startsWith(STATE_PREFIX);
  }

  /** Returns the state to come back with; undefined where there is no room. */
  add(request: W): string | undefined {
    const { bytes } = request;
    if (this.#byState.size >= this.#maxRequests || this.#bytes + bytes > this.#maxBytes) return undefined;
    const state = STATE_PREFIX + randomBytes(ID_BYTES).toString('base64url');
    this.#byState.set(state, { request, bytes, until: performance.now() + this.#ageMs });
    this.#bytes += bytes;
    this.#arm();
    return state;
  }

  /** What waits under a state holds more now. Returns false where there is no room for that. */
  addBytes(state: string, bytes: number): boolean {
    const found = this.#byState.get(state);
    if (found === undefined || this.#bytes + bytes > this.#maxBytes) return false;
    found.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** Takes out what waits under a state; it is good for once. */
  take(state: string): W | undefined {
    const found = this.#byState.get(state);
    if (found === undefined) return undefined;
    this.#byState.delete(state);
    this.#bytes -= found.bytes;
    return found.request;
  }

  /** Nobody will come back any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const state of [...this.#byState.keys()]) this.take(state)?.expire();
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    const oldest = this.#byState.values().next().value;
    if (oldest === undefined) return;
    this.#timer = setTimeout(() => this.#sweep(), Math.max(oldest.until - performance.now(), 0) + 1);
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [state, { until }] of [...this.#byState]) {
      if (until > now) break;
      this.take(state)?.expire();
    }
    this.#arm();
  }
}
