import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { viewsOf, type Message } from '../../wire/index.ts';

/** What waits here unread before the bodies are no longer read, in bytes. */
const HIGH_WATER = 256 * 1024;
const COPY_BELOW = 16 * 1024;
const NEWLINE = Buffer.from('\n');

export interface BodyEvents {
  data(chunk: Buffer): void;
  /** It is over; `whole` is false where it broke off. Told once. */
  ended(whole: boolean): void;
}

/** Where the messages of all bodies come together, a line each. While nobody takes them, no body is read. */
export class IncomingStream {
  readonly stream: Readable;
  readonly #bodies = new Set<IncomingMessage>();
  #full = false;

  constructor() {
    this.stream = new Readable({ highWaterMark: HIGH_WATER, read: () => this.#hasRoom() });
  }

  put(message: Message): void {
    const { stream } = this;
    if (stream.destroyed) return;
    const { bytes } = message;
    const views = [...viewsOf(bytes, bytes.from, bytes.to), NEWLINE];
    // A line in one piece is the quickest to read; what is larger is not copied for that.
    if (message.length < COPY_BELOW) views.splice(0, views.length, Buffer.concat(views));
    let room = true;
    for (const view of views) room = stream.push(view);
    if (room || this.#full) return;
    this.#full = true;
    for (const body of this.#bodies) body.pause();
  }

  /** Reads a body for as long as there is room. */
  read(body: IncomingMessage, events: BodyEvents): void {
    let over = false;
    const end = (whole: boolean): void => {
      if (over) return;
      over = true;
      this.#bodies.delete(body);
      events.ended(whole);
    };
    this.#bodies.add(body);
    if (this.#full) body.pause();
    body.on('data', (chunk: Buffer) => {
      if (!over) events.data(chunk);
    });
    body.on('end', () => end(body.complete));
    body.on('error', () => end(false));
    body.on('close', () => end(false));
  }

  #hasRoom(): void {
    if (!this.#full) return;
    this.#full = false;
    for (const body of this.#bodies) body.resume();
  }
}
