import type { ServerResponse } from 'node:http';
import { isDisconnected } from './reply.ts';

const MIB = 1024 * 1024;
/** With more unsent data than this, in bytes, a client is expected to be reading. */
const BACKED_UP_BYTES = MIB;
/** With more than this, in bytes, producers should pause; the same limit as on stdio. */
const CONGESTED_BYTES = 4 * MIB;
/** The limit for unsent data of one client, in bytes: 16 MiB plus one message of the largest size. */
const WAITING_BYTES = 32 * MIB;

/** Data that was written for one client, over all its responses, and that it has not read yet. */
export class UnsentData {
  readonly #responses = new Set<ServerResponse>();
  readonly #listeners: (() => void)[] = [];
  #given = 0;
  #taken = 0;
  #takenAt = performance.now();
  #closed = false;

  /** Must be called after every write. */
  sent(response: ServerResponse, bytes: number): void {
    this.#given += bytes;
    if (response.writableLength === 0 || this.#responses.has(response)) return;
    this.#responses.add(response);
    const over = (): void => {
      this.#responses.delete(response);
      this.#release();
    };
    response
      .on('drain', () => this.#release())
      .on('finish', over)
      .on('close', over);
  }

  /** How much data is unsent, in bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const response of this.#responses) if (!isDisconnected(response)) bytes += response.writableLength;
    return bytes;
  }

  /** True while so much data waits that its producers should pause. */
  get congested(): boolean {
    if (this.#responses.size === 0 || this.#closed) return false;
    let bytes = 0;
    for (const response of this.#responses) {
      // A response that waits for an earlier one on its connection does not count: the earlier answer may be part of
      // the output that would be paused.
      if (response.socket !== null && !response.destroyed) bytes += response.writableLength;
    }
    return bytes > CONGESTED_BYTES;
  }

  /** Calls back once it is closed or no longer congested. */
  whenDrained(listener: () => void): void {
    if (this.congested) this.#listeners.push(listener);
    else listener();
  }

  /**
   * Why the client should be disconnected; undefined if it should not. `mayWait` is how much data may wait
   * indefinitely, in bytes.
   */
  problem(now: number, stallMs: number, mayWait = BACKED_UP_BYTES): string | undefined {
    const waiting = this.bytes;
    const taken = this.#given - waiting;
    if (waiting <= mayWait || taken > this.#taken) this.#takenAt = now;
    this.#taken = taken;
    if (now - this.#takenAt > stallMs) return 'the client does not read its messages';
    return waiting > WAITING_BYTES ? 'too much data is waiting for the client' : undefined;
  }

  /** Resolves when everything written so far has been sent, or cannot be. */
  async flushed(): Promise<void> {
    const unsent = [...this.#responses].filter(({ writableLength }) => writableLength > 0);
    await Promise.all(unsent.map((response) => relief(response)));
  }

  /** Releases the producers; a client that does not read the rest within this time loses its connection. */
  close(ms: number): void {
    this.#closed = true;
    this.#release();
    for (const response of this.#responses) if (!isDisconnected(response)) destroyLater(response, ms);
  }

  /** Drops all unsent data and its connections. */
  discard(): void {
    for (const response of this.#responses) response.destroy();
  }

  #release(): void {
    if (this.#listeners.length === 0 || this.congested) return;
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/** Resolves when a response has drained, finished or closed. */
function relief(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.on('drain', resolve).on('finish', resolve).on('close', resolve);
  });
}

function destroyLater(response: ServerResponse, ms: number): void {
  const timer = setTimeout(() => response.destroy(), ms);
  timer.unref();
  response.on('close', () => clearTimeout(timer));
}
