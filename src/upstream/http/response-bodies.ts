import type { IncomingMessage } from 'node:http';
import { ByteCollector } from './byte-collector.ts';

export interface BodyEvents {
  data(chunk: Buffer): void;
  /** The body is over; `complete` is false if it broke off. Called once. */
  ended(complete: boolean): void;
}

export interface WholeBody {
  readonly kind: 'complete' | 'too-large' | 'broken';
  /** What was read, within the limit. */
  readonly pieces: Buffer[];
}

/** The most that is read of the body of an error response, in bytes. */
const ERROR_BODY_BYTES = 256 * 1024;
const ERROR_BODY_TIMEOUT_MS = 2000;

/** Reads the bodies of responses, all of which can be paused together. */
export class ResponseBodies {
  readonly #open = new Set<IncomingMessage>();
  #paused = false;

  read(response: IncomingMessage, events: BodyEvents): void {
    let over = false;
    const end = (complete: boolean): void => {
      if (over) return;
      over = true;
      this.#open.delete(response);
      events.ended(complete);
    };
    this.#open.add(response);
    if (this.#paused) response.pause();
    response.on('data', (chunk: Buffer) => {
      if (!over) events.data(chunk);
    });
    response.on('end', () => end(response.complete));
    // After an error as well, for which HttpRequest has a listener.
    response.on('close', () => end(false));
  }

  /** Reads a whole body; stops at the limit, in bytes. */
  readWhole(response: IncomingMessage, limit: number, done: (body: WholeBody) => void): void {
    const collected = new ByteCollector();
    let tooLarge = false;
    this.read(response, {
      data: (chunk) => {
        if (tooLarge) return;
        tooLarge = collected.length + chunk.length > limit;
        if (tooLarge) response.destroy();
        else collected.add(chunk);
      },
      ended: (complete) =>
        done({
          kind: tooLarge ? 'too-large' : complete ? 'complete' : 'broken',
          pieces: collected.take(),
        }),
    });
  }

  /** Reads the body of an error response, as far as it arrives in time. */
  readError(response: IncomingMessage, done: (pieces: Buffer[]) => void): void {
    const timer = setTimeout(() => response.destroy(), ERROR_BODY_TIMEOUT_MS);
    this.readWhole(response, ERROR_BODY_BYTES, ({ pieces }) => {
      clearTimeout(timer);
      done(pieces);
    });
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const response of this.#open) response.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const response of this.#open) response.resume();
  }
}
