import type { Writable } from 'node:stream';
import { viewsOf, type Bytes } from './bytes.ts';
import { frame, type Framing } from './framing.ts';
import type { Message } from './message.ts';

/** A stretch of a message that is replaced on the way. Edits of one message are in order and do not overlap. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  /** What stands there instead: JSON text, or a stretch of this or another message. */
  readonly with: string | Excerpt;
}

export interface Excerpt {
  readonly of: Bytes;
  readonly start: number;
  readonly end: number;
}

/** Adds an edit at its place among those of a message. */
export function addEdit(edits: Edit[], edit: Edit): void {
  let at = edits.length;
  while (at > 0 && edits[at - 1]!.start > edit.start) at--;
  if (at === edits.length) edits.push(edit);
  else edits.splice(at, 0, edit);
}

/** What is smaller than this is copied together into one write; what is larger is handed on where it lies. */
const COPY_BELOW = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;
/** Up to here a loop beats a call into native code. */
const LOOP_BELOW = 192;
const LOOP_TEXT_BELOW = 32;

/** Faster than queueMicrotask, which makes a resource for every call. */
const SOON = Promise.resolve();

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
  readonly #flush = (): void => this.flush();
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
  forward({ bytes }: Message, edits: readonly Edit[]): void {
    if (this.framing === 'content-length')
      this.#putText(frame(this.framing, lengthAfter(bytes, edits)).before);
    let at = bytes.from;
    for (const edit of edits) {
      this.#putRange(bytes, at, edit.start);
      const replacement = edit.with;
      if (typeof replacement === 'string') this.#putText(replacement);
      else this.#putRange(replacement.of, replacement.start, replacement.end);
      at = edit.end;
    }
    this.#putRange(bytes, at, bytes.to);
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
    // A UTF-16 unit is at most three bytes of UTF-8: below that bound the text is sure to fit a block.
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

function lengthAfter(bytes: Bytes, edits: readonly Edit[]): number {
  let length = bytes.to - bytes.from;
  for (const edit of edits) {
    length -= edit.end - edit.start;
    length += typeof edit.with === 'string' ? Buffer.byteLength(edit.with) : edit.with.end - edit.with.start;
  }
  return length;
}
