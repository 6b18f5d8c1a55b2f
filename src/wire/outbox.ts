import type { Writable } from 'node:stream';
import { viewsOf, type Bytes } from './bytes.ts';
import { growth, onOneLine, type Edit } from './edit.ts';
import { Envelope } from './envelope.ts';
import { frame, type OutputFraming } from './framing.ts';
import type { Message } from './message.ts';

/** Smaller parts are copied into one write; larger ones are written without a copy. */
const COPY_BELOW = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;
/** The block size if blocks are not reused: an idle wire keeps the rest of one for hours. */
const SMALL_BLOCK_BYTES = 8 * 1024;
/** Up to this size, a loop is faster than a call into native code. */
const LOOP_BELOW = 64;
const LOOP_TEXT_BELOW = 32;

const NO_BLOCK: Buffer = Buffer.allocUnsafeSlow(0);

/** A block that no wire is using: an idle wire keeps none, which saves 3 MB with 50 servers. */
let spareBlock: Buffer | undefined;

/** Faster than queueMicrotask, which creates an async resource for every call. */
const SOON = Promise.resolve();

export interface OutboxOptions {
  readonly framing: OutputFraming;
  /** The amount of waiting output beyond which the wire counts as congested, in bytes. */
  readonly highWater: number;
  /**
   * True for a pipe, socket or file: output that no longer waits has been copied by the kernel, so its memory can be
   * reused at once, while it is warm. False for a stream that passes buffers on.
   */
  readonly takesCopies: boolean;
}

/**
 * The writing half of a wire. Everything sent in one turn of the event loop goes out in one write: under load, a relay
 * spends its time on writes, not on parsing.
 */
export class Outbox {
  /** How messages are framed from now on. */
  framing: OutputFraming;
  readonly #stream: Writable;
  readonly #highWater: number;
  readonly #takesCopies: boolean;
  readonly #waiting: (() => void)[] = [];
  readonly #flush = (): void => this.flush();
  #ready: Buffer[] = [];
  #block = NO_BLOCK;
  #blockStart = 0;
  #blockEnd = 0;
  #unflushed = 0;
  #scheduled = false;

  constructor(stream: Writable, { framing, highWater, takesCopies }: OutboxOptions) {
    this.#stream = stream;
    this.framing = framing;
    this.#highWater = highWater;
    this.#takesCopies = takesCopies;
    stream.on('drain', () => this.#release());
    stream.on('close', () => this.#release());
    // The owner of the stream handles its end; without a listener here, a broken pipe would crash the program.
    stream.on('error', () => this.#release());
  }

  /** Relays a message as received, with its edits. */
  forward({ bytes }: Message, edits: readonly Edit[]): void {
    if (this.framing !== 'newline') this.#putHeader(bytes.to - bytes.from + growth(edits));
    this.#putEdited(bytes, bytes.from, bytes.to, edits, 0);
    this.#endMessage();
  }

  /** The same for a request, under one of our ids. */
  forwardRequest(id: number, request: Message, edits: readonly Edit[]): void {
    const text = String(id);
    if (this.framing !== 'newline') this.#putHeader(lengthUnder(text.length, request, edits));
    const { bytes } = request;
    const next = this.#putEdited(bytes, bytes.from, request.start(Envelope.id), edits, 0);
    this.#putText(text);
    this.#putEdited(bytes, request.end(Envelope.id), bytes.to, edits, next);
    this.#endMessage();
  }

  /** The same for an answer, under the id of the request that it answers. */
  forwardAnswer(request: Message, answer: Message, edits: readonly Edit[]): void {
    const start = request.start(Envelope.id);
    const end = request.end(Envelope.id);
    if (this.framing !== 'newline') this.#putHeader(lengthUnder(end - start, answer, edits));
    const { bytes } = answer;
    const next = this.#putEdited(bytes, bytes.from, answer.start(Envelope.id), edits, 0);
    this.#putRange(request.bytes, start, end);
    this.#putEdited(bytes, answer.end(Envelope.id), bytes.to, edits, next);
    this.#endMessage();
  }

  /** Sends a JSON text of our own, on one line. */
  sendText(json: string): void {
    const { before, after } = frame(this.framing, this.framing === 'newline' ? 0 : Buffer.byteLength(json));
    this.#putText(before + json + after);
    this.#schedule();
  }

  /** The number of bytes that the other side has not read yet. */
  get backlog(): number {
    return this.#stream.writableLength + this.#unflushed;
  }

  /** True while so much output waits that its producers should pause. */
  get congested(): boolean {
    return this.backlog > this.#highWater && !this.#stream.destroyed;
  }

  /** Calls back once the wire has room again or has closed. */
  whenDrained(listener: () => void): void {
    this.#waiting.push(listener);
  }

  /** Writes at once instead of at the end of this turn of the event loop. */
  flush(): void {
    this.#scheduled = false;
    this.#closeBlock();
    const ready = this.#ready;
    if (ready.length === 0) return;
    this.#ready = [];
    this.#unflushed = 0;
    const stream = this.#stream;
    if (stream.destroyed || stream.writableEnded) return;
    if (ready.length === 1) stream.write(ready[0]);
    else {
      stream.cork();
      for (const buffer of ready) stream.write(buffer);
      stream.uncork();
    }
    if (this.#takesCopies && stream.writableLength === 0) {
      if (this.#block.length === BLOCK_BYTES) spareBlock = this.#block;
      this.#dropBlock();
    }
    // Otherwise the output of a turn that starts near the end of a block would need two writes.
    else if (this.#block.length - this.#blockEnd < this.#block.length / 4) this.#dropBlock();
  }

  /**
   * Writes a range of a message with its edits, starting with edit `next`; returns the index of the edit after those.
   */
  // eslint-disable-next-line @typescript-eslint/max-params -- runs twice for every message
  #putEdited(bytes: Bytes, start: number, end: number, edits: readonly Edit[], next: number): number {
    let at = start;
    for (; next < edits.length && edits[next]!.start < end; next++) {
      const edit = edits[next]!;
      this.#putRange(bytes, at, edit.start);
      const replacement = edit.with;
      if (typeof replacement === 'string') this.#putText(onOneLine(replacement));
      else this.#putRange(replacement.of, replacement.start, replacement.end);
      at = edit.end;
    }
    this.#putRange(bytes, at, end);
    return next;
  }

  #putHeader(length: number): void {
    this.#putText(frame(this.framing, length).before);
  }

  #endMessage(): void {
    if (this.framing !== 'content-length') this.#putText('\n');
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void SOON.then(this.#flush);
  }

  #release(): void {
    if (this.#waiting.length === 0 || this.congested) return;
    for (const listener of this.#waiting.splice(0)) listener();
  }

  #putRange(bytes: Bytes, start: number, end: number): void {
    const { buffer } = bytes;
    if (buffer === undefined) for (const view of viewsOf(bytes, start, end)) this.#put(view, 0, view.length);
    else if (start < end) this.#put(buffer, start, end);
  }

  #put(source: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length > COPY_BELOW) {
      this.#closeBlock();
      this.#ready.push(start === 0 && end === source.length ? source : source.subarray(start, end));
      this.#unflushed += length;
      return;
    }
    this.#reserve(length);
    if (length <= LOOP_BELOW) {
      const block = this.#block;
      let to = this.#blockEnd;
      for (let from = start; from < end; from++) block[to++] = source[from]!;
    } else source.copy(this.#block, this.#blockEnd, start, end);
    this.#blockEnd += length;
    this.#unflushed += length;
  }

  #putText(text: string): void {
    const { length } = text;
    // A UTF-16 unit takes at most three bytes of UTF-8: a text below this length always fits into a block.
    if (length > COPY_BELOW / 3) {
      const bytes = Buffer.from(text);
      this.#put(bytes, 0, bytes.length);
      return;
    }
    this.#reserve(length * 3);
    let written = 0;
    if (length <= LOOP_TEXT_BELOW) {
      for (; written < length; written++) {
        const code = text.charCodeAt(written);
        if (code >= 0x80) break;
        this.#block[this.#blockEnd + written] = code;
      }
    }
    if (written < length) written = this.#block.write(text, this.#blockEnd);
    this.#blockEnd += written;
    this.#unflushed += written;
  }

  #reserve(bytes: number): void {
    if (this.#block.length - this.#blockEnd >= bytes) return;
    this.#closeBlock();
    this.#dropBlock();
    if (this.#takesCopies && spareBlock !== undefined && bytes <= BLOCK_BYTES) {
      this.#block = spareBlock;
      spareBlock = undefined;
      return;
    }
    const usual = this.#takesCopies ? BLOCK_BYTES : SMALL_BLOCK_BYTES;
    this.#block = Buffer.allocUnsafeSlow(Math.max(usual, bytes));
  }

  #dropBlock(): void {
    this.#block = NO_BLOCK;
    this.#blockStart = this.#blockEnd = 0;
  }

  /**
   * Marks the contents of the block as ready to write. The rest of the block is reused, but never the part handed out.
   */
  #closeBlock(): void {
    if (this.#blockEnd === this.#blockStart) return;
    this.#ready.push(this.#block.subarray(this.#blockStart, this.#blockEnd));
    this.#blockStart = this.#blockEnd;
  }
}

/** The length of a message with its edits, under an id of the given length. */
function lengthUnder(idLength: number, message: Message, edits: readonly Edit[]): number {
  const own = message.end(Envelope.id) - message.start(Envelope.id);
  return message.length + growth(edits) - own + idLength;
}
