import { fromChunks, type Bytes } from './bytes.ts';

/**
 * How messages are delimited in a byte stream. MCP uses `newline`; some older hosts and servers use `content-length`.
 */
export type Framing = 'newline' | 'content-length';

/** `either`: `content-length` with the message on a separate line, so that a reader of lines finds it too. */
export type OutputFraming = Framing | 'either';

export interface FramingLimits {
  /**
   * The largest message that is kept, in bytes. A larger one is skipped and reported, and the next one is delivered.
   */
  readonly messageBytes: number;
  /** How far a message may exceed that limit before the stream counts as broken, in bytes. */
  readonly overrunBytes: number;
}

export interface FramingEvents {
  /** A complete message or line, as it arrived. */
  message(bytes: Bytes, framing: Framing): void;
  /** A message over the limit was skipped. Reports its first and last bytes and its length. */
  oversize(head: Buffer, tail: Buffer, length: number): void;
  /**
   * A header block without a usable Content-Length, or without a message after it; what follows is read as a new
   * message.
   */
  badHeader(header: string): void;
  /** A message exceeded the limit so far that the stream counts as broken. */
  overrun(): void;
}

/** Enough for every header block in use, and a limit for one that never ends. */
const HEADER_BYTES = 8 * 1024;
const FRAGMENT_BYTES = 4 * 1024;
/** A message in more chunks than this is joined from time to time, to limit the bookkeeping for tiny writes. */
const MAX_PIECES = 2048;
/** How many bytes of line breaks a peer may count as part of a body. */
const TRAILING_BYTES = 4;

/**
 * Cuts a byte stream into messages. Both framings are understood at every message boundary until `settle` is called.
 * `framing` is the one that the peer started with, which is the one to answer in.
 */
export class Deframer {
  /** The framing of the first message; undefined until anything other than blanks has arrived. */
  framing: Framing | undefined;
  readonly #limits: FramingLimits;
  readonly #events: FramingEvents;
  /** The framing that the peer is known to use. */
  #settled: Framing | undefined;
  #mode: 'boundary' | 'line' | 'header' | 'body' | 'rest' = 'boundary';
  #pieces: Buffer[] = [];
  #held = 0;
  /** The header block so far. */
  #headerSeen = '';
  /** The number of bytes still missing from a Content-Length body. */
  #missing = 0;
  /** How much of that body has been checked; its header may come from a dump of an HTTP message. */
  #seen: 'nothing' | 'first byte' | 'first line' = 'nothing';
  /** The header of that body. */
  #blockText = '';
  /** Set while a message over the limit is being skipped. */
  #skipped: { head: Buffer; tail: Buffer; length: number } | undefined;
  #broken = false;

  constructor(limits: FramingLimits, events: FramingEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  /**
   * The peer's framing is known and does not change. A peer that writes lines may also print a dump of an HTTP message:
   * if that were read as a header, its Content-Length would swallow the messages that follow.
   */
  settle(framing: Framing): void {
    this.#settled = framing;
  }

  /** Reads a chunk from an offset on, but at most this many parts of messages. Returns the offset it reached. */
  push(chunk: Buffer, from = 0, parts = Infinity): number {
    let at = from;
    for (let part = 0; at < chunk.length && part < parts && !this.#broken; part++) {
      switch (this.#mode) {
        case 'boundary':
          at = this.#open(chunk, at);
          break;
        case 'line':
          at = this.#line(chunk, at);
          break;
        case 'header':
          at = this.#header(chunk, at);
          break;
        case 'body':
          at = this.#body(chunk, at);
          break;
        case 'rest':
          at = this.#rest(chunk, at);
          break;
      }
    }
    return this.#broken ? chunk.length : at;
  }

  /** The stream has ended: a last line without a newline still counts. */
  end(): void {
    if (this.#mode === 'line' && (this.#held > 0 || this.#skipped)) this.#finish('newline');
    this.#mode = 'boundary';
  }

  /** Decides what starts here: blanks, a line, or a header block. */
  #open(chunk: Buffer, at: number): number {
    if (this.framing === undefined && chunk[at] === 0xef && chunk[at + 1] === 0xbb && chunk[at + 2] === 0xbf)
      at += 3;
    while (at < chunk.length && isBlank(chunk[at]!)) at++;
    if (at === chunk.length) return at;
    if (this.#settled !== 'newline' && mayBeHeader(chunk, at, this.framing === 'content-length'))
      this.#mode = 'header';
    else {
      this.framing ??= 'newline';
      this.#mode = 'line';
    }
    return at;
  }

  #line(chunk: Buffer, at: number): number {
    const newline = chunk.indexOf(0x0a, at);
    if (
      newline >= 0 &&
      this.#held === 0 &&
      this.#skipped === undefined &&
      newline - at <= this.#limits.messageBytes &&
      this.#settled !== 'content-length'
    ) {
      // In one chunk, as nearly all lines are: passed on without a copy.
      this.#mode = 'boundary';
      const end = newline > at && chunk[newline - 1] === 0x0d ? newline - 1 : newline;
      if (end > at) this.#events.message({ buffer: chunk, from: at, to: end }, 'newline');
      return newline + 1;
    }
    this.#keep(chunk, at, newline < 0 ? chunk.length : newline);
    if (newline < 0) return chunk.length;
    const header = this.#settled === 'content-length' ? this.#headerAtEnd() : '';
    this.#finish('newline');
    if (header === '') return newline + 1;
    this.#headerSeen = header;
    this.#mode = 'header';
    return newline;
  }

  /**
   * A peer that uses Content-Length may leave a line of text unfinished, so that a header follows on the same line.
   * Removes and returns that header.
   */
  #headerAtEnd(): string {
    if (this.#skipped !== undefined) return '';
    const line = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    const tail = line.subarray(-MAX_LENGTH_HEADER).toString('latin1');
    const header = LENGTH_HEADER_AT_END.exec(tail)?.[0] ?? '';
    if (header === '') return '';
    this.#drop();
    this.#keep(line, 0, line.length - header.length);
    return header;
  }

  #header(chunk: Buffer, at: number): number {
    const seen = this.#headerSeen;
    const end = Math.min(chunk.length, at + HEADER_BYTES - seen.length);
    const text = seen + chunk.toString('latin1', at, end);
    const block = readHeader(text, this.framing === 'content-length');
    this.#headerSeen = '';
    switch (block.kind) {
      case 'open':
        if (text.length >= HEADER_BYTES) {
          this.#mode = 'rest';
          this.#events.badHeader(text.slice(0, 200));
        } else this.#headerSeen = text;
        return end;
      case 'line': {
        // The part seen earlier is the start of this line: a line break in it would have settled this earlier.
        this.framing ??= 'newline';
        this.#mode = 'line';
        const before = Buffer.from(seen, 'latin1');
        this.#keep(before, 0, before.length);
        return at;
      }
      case 'bad':
        this.#mode = 'boundary';
        this.#events.badHeader(text.slice(0, Math.min(block.used, 200)).trimEnd());
        return at + block.used - seen.length;
      case 'block':
        this.#missing = block.length;
        this.#seen = 'nothing';
        this.#blockText = text.slice(0, Math.min(block.used, 200)).trimEnd();
        this.#mode = 'body';
        if (this.#missing === 0) this.#finish('content-length');
        return at + block.used - seen.length;
    }
  }

  /** Skips the rest of an overlong line. */
  #rest(chunk: Buffer, at: number): number {
    const newline = chunk.indexOf(0x0a, at);
    if (newline < 0) return chunk.length;
    this.#mode = 'boundary';
    return newline + 1;
  }

  #body(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#missing);
    if (this.#seen !== 'first line') {
      const next = this.#doubt(chunk, at, end);
      if (next !== undefined) return next;
    }
    this.#missing -= end - at;
    this.#keep(chunk, at, end);
    if (this.#missing > 0) return end;
    const breaksOff = this.#seen === 'first byte' && !isBlank(chunk[end - 1]!) && !isClosing(chunk[end - 1]!);
    if (breaksOff && this.framing === undefined && this.#settled === undefined && !this.#skipped) {
      // The line is longer than the header before it says.
      this.#events.badHeader(this.#blockText);
      this.framing ??= 'newline';
      this.#mode = 'line';
    } else this.#finish('content-length');
    return end;
  }

  /**
   * A message starts with a bracket and does not end long before its Content-Length says. Otherwise the header is not a
   * header: its length would swallow the messages that follow. Returns where to continue reading in that case.
   */
  #doubt(chunk: Buffer, at: number, end: number): number | undefined {
    let from = at;
    if (this.#seen === 'nothing') {
      while (from < end && isBlank(chunk[from]!)) from++;
      if (from === end) return undefined;
      if (!isOpening(chunk[from]!)) {
        this.#drop();
        this.#mode = 'boundary';
        this.#events.badHeader(this.#blockText);
        return from;
      }
      this.#seen = 'first byte';
    }
    const newline = chunk.subarray(from, end).indexOf(0x0a);
    if (newline < 0) return undefined;
    this.#seen = 'first line';
    const lineEnd = from + newline;
    const beyond = this.#missing - (lineEnd + 1 - at);
    if (beyond <= TRAILING_BYTES || this.#skipped !== undefined) return undefined;
    const line = Buffer.concat([...this.#pieces, chunk.subarray(at, lineEnd)]);
    if (!isWhole(line)) return undefined;
    this.#events.badHeader(this.#blockText);
    this.framing ??= 'newline';
    this.#drop();
    this.#keep(line, line.findIndex(isOpening), line.length);
    this.#finish('newline');
    return lineEnd + 1;
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (start === end) return;
    const piece = start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end);
    const length = this.#held + piece.length;
    if (this.#skipped === undefined && length <= this.#limits.messageBytes) {
      this.#held = length;
      this.#pieces.push(piece);
      if (this.#pieces.length > MAX_PIECES) this.#pieces = [Buffer.concat(this.#pieces)];
      return;
    }
    this.#skip(piece);
  }

  #skip(piece: Buffer): void {
    if (this.#skipped === undefined) {
      const head = Buffer.concat(
        [...this.#pieces, piece],
        Math.min(this.#held + piece.length, FRAGMENT_BYTES),
      );
      this.#skipped = { head, tail: Buffer.alloc(0), length: this.#held };
      this.#pieces = [];
      this.#held = 0;
    }
    const skipped = this.#skipped;
    skipped.length += piece.length;
    skipped.tail =
      piece.length >= FRAGMENT_BYTES
        ? Buffer.from(piece.subarray(piece.length - FRAGMENT_BYTES))
        : Buffer.concat([skipped.tail, piece]).subarray(-FRAGMENT_BYTES);
    if (skipped.length > this.#limits.messageBytes + this.#limits.overrunBytes) {
      this.#broken = true;
      this.#events.overrun();
    }
  }

  #finish(framing: Framing): void {
    this.#mode = 'boundary';
    this.framing ??= framing;
    const skipped = this.#skipped;
    if (skipped) {
      this.#skipped = undefined;
      this.#events.oversize(skipped.head, skipped.tail, skipped.length);
      return;
    }
    const pieces = this.#pieces;
    this.#drop();
    if (framing === 'newline') trimReturn(pieces);
    if (pieces.length > 0) this.#events.message(fromChunks(pieces), framing);
  }

  #drop(): void {
    this.#pieces = [];
    this.#held = 0;
  }
}

/** The bytes before and after a body of the given length. */
export function frame(framing: OutputFraming, length: number): { before: string; after: string } {
  switch (framing) {
    case 'newline':
      return { before: '', after: '\n' };
    case 'content-length':
      return { before: `Content-Length: ${length}\r\n\r\n`, after: '' };
    case 'either':
      // A line break may follow JSON, so it is part of the body.
      return { before: `Content-Length: ${length + 1}\r\n\r\n`, after: '\n' };
  }
}

/** The longest header to look for at the end of a line, in bytes. */
const MAX_LENGTH_HEADER = 64;
const LENGTH_HEADER_AT_END = /content-length[ \t]{0,8}:[ \t]{0,8}\d{1,15}[ \t]{0,8}\r?$/i;

function isOpening(byte: number): boolean {
  return byte === 0x7b || byte === 0x5b;
}

function isClosing(byte: number): boolean {
  return byte === 0x7d || byte === 0x5d;
}

/** Whether every bracket in this text has been closed by its end. */
function isWhole(text: Buffer): boolean {
  let depth = 0;
  let inText = false;
  let escaped = false;
  let last = 0;
  for (const byte of text) {
    if (inText) {
      if (escaped) escaped = false;
      else if (byte === 0x5c) escaped = true;
      else if (byte === 0x22) inText = false;
    } else if (byte === 0x22) inText = true;
    else if (isOpening(byte)) depth++;
    else if (isClosing(byte)) depth--;
    if (!isBlank(byte)) last = byte;
  }
  return depth === 0 && isClosing(last);
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

const CONTENT = Buffer.from('content-');

/** Whether these bytes can start a header block: `Content-`, or any name once the peer has used Content-Length. */
function mayBeHeader(chunk: Buffer, at: number, framed: boolean): boolean {
  if (framed) return (chunk[at]! | 0x20) >= 0x61 && (chunk[at]! | 0x20) <= 0x7a;
  for (let offset = 0; offset < CONTENT.length && at + offset < chunk.length; offset++) {
    const byte = chunk[at + offset]!;
    if (byte !== CONTENT[offset] && (byte | 0x20) !== CONTENT[offset]) return false;
  }
  return true;
}

/**
 * What the start of a possible header block turns out to be; `used` counts the characters that have been dealt with.
 */
type HeaderBlock =
  | { readonly kind: 'open' }
  | { readonly kind: 'line' }
  | { readonly kind: 'bad'; readonly used: number }
  | { readonly kind: 'block'; readonly used: number; readonly length: number };

function readHeader(text: string, framed: boolean): HeaderBlock {
  let length: number | undefined;
  for (let at = 0; ;) {
    const newline = text.indexOf('\n', at);
    const line = newline < 0 ? text.slice(at) : text.slice(at, newline).replace(/\r$/, '');
    if (at === 0 && !isHeaderLine(line, newline >= 0, framed)) return { kind: 'line' };
    if (newline < 0) {
      // A brace in place of the next header: this was not a header block, and something else starts here.
      return at > 0 && /^\r?[^A-Za-z\r]/.test(line)
        ? { kind: 'bad', used: at + (line.startsWith('\r') ? 1 : 0) }
        : { kind: 'open' };
    }
    if (line === '')
      return length === undefined
        ? { kind: 'bad', used: newline + 1 }
        : { kind: 'block', used: newline + 1, length };
    if (!/^[A-Za-z][\w-]*[ \t]*:/.test(line))
      return {
        kind: 'bad',
        used: /^[A-Za-z]/.test(line) ? newline + 1 : at + (line.startsWith('\r') ? 1 : 0),
      };
    const given = /^content-length[ \t]*:[ \t]*(\d{1,15})[ \t]*$/i.exec(line)?.[1];
    if (given !== undefined) length = Number(given);
    at = newline + 1;
  }
}

/**
 * Whether the first line of a block is a header or can still become one. Before the first Content-Length message, only
 * the two `Content-` headers count.
 */
function isHeaderLine(line: string, whole: boolean, framed: boolean): boolean {
  if (framed) return (whole ? /^[A-Za-z][\w-]*[ \t]*:/ : /^[A-Za-z][\w-]*[ \t]*(:|$)/).test(line);
  const lower = line.toLowerCase();
  return ['content-length', 'content-type'].some((name) => {
    if (lower.length <= name.length) return !whole && name.startsWith(lower);
    return lower.startsWith(name) && (whole ? /^[ \t]*:/ : /^[ \t]*(:|$)/).test(lower.slice(name.length));
  });
}

/** Removes the `\r` of a `\r\n` from a line. */
function trimReturn(pieces: Buffer[]): void {
  const last = pieces.at(-1);
  if (last === undefined || last[last.length - 1] !== 0x0d) return;
  if (last.length === 1) pieces.pop();
  else pieces[pieces.length - 1] = last.subarray(0, -1);
}
