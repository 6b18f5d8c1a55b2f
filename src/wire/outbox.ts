import type { Writable } from 'node:stream';
import { frame, type Framing } from './framing.ts';
import type { Message } from './message.ts';

/** A stretch of a message that is replaced on the way. Edits of one message are in order and do not overlap. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  /** What stands there instead, as JSON text or as bytes. */
  readonly with: string | readonly Buffer[];
}

/** What is smaller than this is copied together into one write; what is larger is handed on where it lies. */
const COPY_BELOW = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;

/**
 * The writing half of a wire. All that is sent in one turn of the event loop leaves in one write: under load that,
 * not the parsing, is what a relay spends its time on.
 */
export class Outbox {
  /** How messages are framed from now on. */
  framing: Framing;
  readonly #stream: Writable;
  readonly #highWater: number;
  readonly #waiting: (() => void)[] = [];
  #ready: Buffer[] = [];
  #block = Buffer.allocUnsafeSlow(0);
  #blockStart = 0;
  #blockEnd = 0;
  #unflushed = 0;
  #scheduled = false;

  constructor(stream: Writable, framing: Framing, highWater: number) {
    this.#stream = stream;
    this.framing = framing;
    this.#highWater = highWater;
    stream.on('drain', () => this.#release());
    stream.on('close', () => this.#release());
    // Whoever opened the stream hears of its end; without a listener here a broken pipe would end the program.
    stream.on('error', () => this.#release());
  }

  /** Passes a message on as it came, but for the edits. */
  forward(message: Message, edits: readonly Edit[]): void {
    if (this.framing === 'content-length')
      this.#putText(frame(this.framing, lengthAfter(message, edits)).before);
    let at = 0;
    for (const edit of edits) {
      this.#putRange(message, at, edit.start);
      if (typeof edit.with === 'string') this.#putText(edit.with);
      else for (const piece of edit.with) this.#put(piece);
      at = edit.end;
    }
    this.#putRange(message, at, message.length);
    if (this.framing === 'newline') this.#putText('\n');
    this.#schedule();
  }

  /** Sends a JSON text of our own making, on one line. */
  sendText(json: string): void {
    const { before, after } = frame(this.framing, this.framing === 'newline' ? 0 : Buffer.byteLength(json));
    this.#putText(before + json + after);
    this.#schedule();
  }

  /** Bytes that the other side has not taken yet. */
  get backlog(): number {
    return this.#stream.writableLength + this.#unflushed;
  }

  /** True while so much waits that whoever produces for this wire should pause. */
  get congested(): boolean {
    return this.backlog > this.#highWater && !this.#stream.destroyed;
  }

  /** Calls back once the wire has room again, or is gone. */
  whenDrained(listener: () => void): void {
    this.#waiting.push(listener);
  }

  /** Writes what is gathered now instead of at the end of this turn. */
  flush(): void {
    this.#scheduled = false;
    this.#closeBlock();
    const ready = this.#ready;
    if (ready.length === 0) return;
    this.#ready = [];
    this.#unflushed = 0;
    const stream = this.#stream;
    if (stream.destroyed || stream.writableEnded) return;
    if (ready.length === 1) {
      stream.write(ready[0]);
      return;
    }
    stream.cork();
    for (const buffer of ready) stream.write(buffer);
    stream.uncork();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => this.flush());
  }

  #release(): void {
    if (this.#waiting.length === 0 || this.congested) return;
    for (const listener of this.#waiting.splice(0)) listener();
  }

  #putRange(message: Message, start: number, end: number): void {
    if (start >= end) return;
    const { pieces } = message;
    if (pieces.length === 1) {
      const piece = pieces[0]!;
      if (end - start <= COPY_BELOW) this.#copy(piece, start, end);
      else this.#refer(piece.subarray(start, end));
      return;
    }
    for (const slice of message.slices(start, end)) this.#put(slice);
  }

  #put(bytes: Buffer): void {
    if (bytes.length <= COPY_BELOW) this.#copy(bytes, 0, bytes.length);
    else this.#refer(bytes);
  }

  #putText(text: string): void {
    // A UTF-16 unit is at most three bytes of UTF-8: below that bound the text is sure to fit a block.
    if (text.length > COPY_BELOW / 3) {
      this.#put(Buffer.from(text));
      return;
    }
    this.#reserve(text.length * 3);
    const written = this.#block.write(text, this.#blockEnd);
    this.#blockEnd += written;
    this.#unflushed += written;
  }

  #copy(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    this.#blockEnd += source.copy(this.#block, this.#blockEnd, start, end);
    this.#unflushed += end - start;
  }

  #refer(bytes: Buffer): void {
    this.#closeBlock();
    this.#ready.push(bytes);
    this.#unflushed += bytes.length;
  }

  #reserve(bytes: number): void {
    if (this.#block.length - this.#blockEnd >= bytes) return;
    this.#closeBlock();
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#blockStart = this.#blockEnd = 0;
  }

  /** What is in the block so far becomes ready; the rest of the block is used on, never what was given away. */
  #closeBlock(): void {
    if (this.#blockEnd === this.#blockStart) return;
    this.#ready.push(this.#block.subarray(this.#blockStart, this.#blockEnd));
    this.#blockStart = this.#blockEnd;
  }
}

function lengthAfter(message: Message, edits: readonly Edit[]): number {
  let length = message.length;
  for (const edit of edits) {
    length -= edit.end - edit.start;
    if (typeof edit.with === 'string') length += Buffer.byteLength(edit.with);
    else for (const piece of edit.with) length += piece.length;
  }
  return length;
}
