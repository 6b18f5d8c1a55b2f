import { ByteCollector } from './byte-collector.ts';

export interface EventStreamParserEvents {
  /** An event with data; `type` is `message` if the server named none. */
  event(type: string, data: Buffer[]): void;
  /** An event over the size limit was skipped: its first and last bytes. */
  oversize(head: Buffer, tail: Buffer): void;
}

const LF = 0x0a;
const CR = 0x0d;
const NEWLINE = Buffer.from('\n');
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const DATA = Buffer.from('data');
const DATA_COLON = Buffer.from('data:');
/** The most that is read of a name, id or comment, in bytes. */
const FIELD_BYTES = 8 * 1024;
const FRAGMENT_BYTES = 4 * 1024;
/** Enough to recognize a byte order mark and the name of a data line. */
const NAME_BYTES = BOM.length + DATA_COLON.length + 1;

/**
 * Parses server-sent events from chunks cut anywhere. Data is passed on in the pieces it arrived in. Anything after the
 * last blank line when the stream ends is not an event: it may have been cut off.
 */
export class EventStreamParser {
  /** The id of the last event that had one: the stream can be resumed after it. */
  lastEventId: string | undefined;
  /** How long the server wants its client to wait before it resumes, in milliseconds. */
  retryMs: number | undefined;
  /** Events so far, including those without data. */
  count = 0;
  readonly #limit: number;
  readonly #events: EventStreamParserEvents;
  readonly #line = new ByteCollector();
  readonly #data = new ByteCollector();
  #dataLines = 0;
  #type = '';
  #id: string | undefined;
  #anyField = false;
  #firstLine = true;
  /** The last line ended in a carriage return: a line feed that follows belongs to it. */
  #afterReturn = false;
  /** Set while the rest of a line is skipped. */
  #skipping = false;
  /** Set while an event over the limit is skipped. */
  #oversize: { head: Buffer; tail: Buffer } | undefined;

  /** `messageBytes`: the largest event that is kept. */
  constructor(messageBytes: number, events: EventStreamParserEvents) {
    this.#limit = messageBytes;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    let at = 0;
    if (this.#afterReturn && chunk.length > 0) {
      this.#afterReturn = false;
      if (chunk[0] === LF) at = 1;
    }
    // Searched once per chunk, not per line: most streams contain only one of the two.
    let feed = chunk.indexOf(LF, at);
    let ret = chunk.indexOf(CR, at);
    while (at < chunk.length) {
      if (feed >= 0 && feed < at) feed = chunk.indexOf(LF, at);
      if (ret >= 0 && ret < at) ret = chunk.indexOf(CR, at);
      const end = feed < 0 ? ret : ret < 0 ? feed : Math.min(feed, ret);
      if (end < 0) {
        this.#keep(chunk.subarray(at));
        return;
      }
      this.#keep(chunk.subarray(at, end));
      this.#endLine();
      at = end + 1;
      if (end !== ret) continue;
      if (at === chunk.length) this.#afterReturn = true;
      else if (chunk[at] === LF) at++;
    }
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#skipping) {
      this.#noteTail(piece);
      return;
    }
    this.#line.add(piece);
    // The name in front of the data does not count.
    if (this.#line.length <= Math.min(FIELD_BYTES, this.#limit) + NAME_BYTES) return;
    if (this.#line.length + this.#data.length <= this.#limit + NAME_BYTES) return;
    const pieces = withName(this.#line.take(), this.#firstLine);
    this.#skipping = true;
    if (startsWith(pieces[0]!, DATA_COLON)) this.#tooLarge(valueOf(pieces));
  }

  #endLine(): void {
    const skipped = this.#skipping;
    this.#skipping = false;
    const first = this.#firstLine;
    this.#firstLine = false;
    if (skipped) {
      this.#anyField = true;
      return;
    }
    if (this.#line.length === 0) {
      this.#dispatch();
      return;
    }
    const pieces = withName(this.#line.take(), first);
    const head = pieces[0];
    // The line contained only the byte order mark.
    if (head === undefined) this.#dispatch();
    else if (startsWith(head, DATA_COLON)) this.#addData(valueOf(pieces));
    else if (pieces.length === 1 && head.equals(DATA)) this.#addData([]);
    else this.#field(Buffer.concat(pieces).toString('utf8', 0, FIELD_BYTES));
  }

  #addData(pieces: Buffer[]): void {
    this.#anyField = true;
    if (this.#oversize) {
      for (const piece of pieces) this.#noteTail(piece);
      return;
    }
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const more = this.#dataLines > 0 ? 1 : 0;
    if (this.#data.length + more + length > this.#limit) {
      this.#tooLarge(pieces);
      return;
    }
    if (more) this.#data.add(NEWLINE);
    this.#dataLines++;
    for (const piece of pieces) this.#data.add(piece);
  }

  #field(line: string): void {
    this.#anyField = true;
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#type = value;
    // An id is sent back in a header; one that does not fit is ignored.
    else if (name === 'id') this.#id = /^[\x20-\x7e]{0,1024}$/.test(value) ? value : this.#id;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(): void {
    if (this.#anyField) this.count++;
    this.#anyField = false;
    if (this.#id !== undefined) this.lastEventId = this.#id === '' ? undefined : this.#id;
    this.#id = undefined;
    const type = this.#type === '' ? 'message' : this.#type;
    this.#type = '';
    this.#dataLines = 0;
    const oversize = this.#oversize;
    this.#oversize = undefined;
    const hasData = this.#data.length > 0;
    const data = this.#data.take();
    if (oversize) this.#events.oversize(oversize.head, oversize.tail);
    else if (hasData) this.#events.event(type, data);
  }

  #tooLarge(pieces: readonly Buffer[]): void {
    const before = this.#data.length;
    const known = [...this.#data.take(), ...pieces];
    const length = pieces.reduce((sum, piece) => sum + piece.length, before);
    this.#oversize ??= {
      head: Buffer.concat(known, Math.min(length, FRAGMENT_BYTES)),
      tail: Buffer.alloc(0),
    };
    for (const piece of pieces) this.#noteTail(piece);
  }

  #noteTail(piece: Buffer): void {
    const oversize = this.#oversize;
    if (oversize === undefined) return;
    oversize.tail =
      piece.length >= FRAGMENT_BYTES
        ? Buffer.from(piece.subarray(-FRAGMENT_BYTES))
        : Buffer.from(Buffer.concat([oversize.tail, piece]).subarray(-FRAGMENT_BYTES));
  }
}

/** The pieces of a line with its whole name in the first piece, and without a byte order mark in the first line. */
function withName(pieces: Buffer[], firstLine: boolean): Buffer[] {
  while (pieces.length > 1 && pieces[0]!.length < NAME_BYTES)
    pieces.splice(0, 2, Buffer.concat([pieces[0]!, pieces[1]!]));
  const head = pieces[0];
  if (!firstLine || head === undefined || !startsWith(head, BOM)) return pieces;
  if (head.length === BOM.length) pieces.shift();
  else pieces[0] = head.subarray(BOM.length);
  return pieces;
}

/** The value of a data line, without one leading space. */
function valueOf(pieces: Buffer[]): Buffer[] {
  const head = pieces[0]!;
  const start = DATA_COLON.length + (head[DATA_COLON.length] === 0x20 ? 1 : 0);
  pieces[0] = head.subarray(start);
  return pieces;
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
