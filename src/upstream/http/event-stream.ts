import { LEAST_LINE } from '../flood.ts';

export interface EventStreamParserEvents {
  /** An event with data; `type` is `message` if the server named none. */
  event(type: string, data: Buffer[]): void;
  /** An event over the size limit was skipped: its first and last bytes. */
  oversize(head: Buffer, tail: Buffer): void;
  /** Something was read that is not part of a message. It costs as much as this many bytes of one. */
  waste(bytes: number): void;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const NEWLINE = Buffer.from('\n');
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const DATA_COLON = Buffer.from('data:');
const NOTHING = Buffer.alloc(0);
/** The most that is read of a name, id or comment, in bytes. */
const FIELD_BYTES = 8 * 1024;
const FRAGMENT_BYTES = 4 * 1024;
/** The minimum that a line of data counts for, in bytes. The lines of a JSON text are mostly longer. */
const LEAST_DATA_LINE = 16;
/** An event over the limit may be long before it counts as endless: this many of its bytes count as one. */
const OVERRUN = 20;
/** How much must be wasted before it is reported, in bytes. */
const WASTE_STEP = 4096;
/** Enough to recognize a byte order mark and the name of a data line. */
const NAME_BYTES = BOM.length + DATA_COLON.length + 1;

/**
 * Parses server-sent events from arbitrarily cut chunks. Data is passed on in the pieces in which it arrived. Anything
 * after the last blank line when the stream ends is not an event, since it may have been cut off.
 */
export class EventStreamParser {
  /** The id of the last event that had one. The stream can be resumed after it. */
  lastEventId: string | undefined;
  /** How long the server wants its client to wait before resuming, in milliseconds. */
  retryMs: number | undefined;
  /** The number of events so far, including those without data. */
  count = 0;
  readonly #limit: number;
  readonly #events: EventStreamParserEvents;
  /** The beginning of the current line, until it turns out to be a data line. */
  #line: Buffer = NOTHING;
  /** The current line is a data line. Its value is added directly to the data of the event. */
  #inData = false;
  /** The number of data bytes in the current line. */
  #lineData = 0;
  /** The bytes that have not been reported yet. */
  #wasted = 0;
  #firstLine = true;
  /** The last line ended in a carriage return, so a line feed that follows belongs to it. */
  #afterReturn = false;
  /** The data of the event so far. */
  readonly #data = new ByteCollector();
  #dataLines = 0;
  #type = '';
  #id: string | undefined;
  #anyField = false;
  /** Set while an event over the limit is being skipped. */
  #oversize: { readonly head: Buffer; readonly tail: Buffer } | undefined;

  /** `messageBytes`: the largest event that is accepted. */
  constructor(messageBytes: number, events: EventStreamParserEvents) {
    this.#limit = messageBytes;
    this.#events = events;
  }

  /** Reads a chunk from an offset, up to this many lines. Returns the new offset. */
  push(chunk: Buffer, from = 0, lines = Infinity): number {
    let at = from;
    if (this.#afterReturn && chunk.length > 0) {
      this.#afterReturn = false;
      if (chunk[at] === LF) at++;
    }
    // Searched once per chunk instead of once per line: most streams contain only one of the two.
    let feed = chunk.indexOf(LF, at);
    let ret = chunk.indexOf(CR, at);
    for (let line = 0; at < chunk.length && line < lines; line++) {
      if (feed >= 0 && feed < at) feed = chunk.indexOf(LF, at);
      if (ret >= 0 && ret < at) ret = chunk.indexOf(CR, at);
      const end = feed < 0 ? ret : ret < 0 ? feed : Math.min(feed, ret);
      if (end < 0) {
        this.#add(chunk.subarray(at));
        return chunk.length;
      }
      this.#add(chunk.subarray(at, end));
      this.#endLine();
      at = end + 1;
      if (end !== ret) continue;
      if (at === chunk.length) this.#afterReturn = true;
      else if (chunk[at] === LF) at++;
    }
    return at;
  }

  /** Adds bytes to the current line. Of a line without data, only the beginning is kept. */
  #add(piece: Buffer): void {
    const known = this.#line.length;
    if (this.#inData) this.#addData(piece);
    else if (known < NAME_BYTES) {
      const line = known === 0 ? piece : Buffer.concat([this.#line, piece]);
      this.#line = line.subarray(0, FIELD_BYTES);
      const value = line.length < NAME_BYTES ? undefined : this.#valueStart();
      if (value === undefined) return;
      this.#beginData();
      this.#addData(line.subarray(value));
    } else if (known < FIELD_BYTES)
      this.#line = Buffer.concat([this.#line, piece.subarray(0, FIELD_BYTES - known)]);
    else this.#waste(piece.length);
  }

  #endLine(): void {
    if (!this.#inData) {
      const value = this.#valueStart();
      if (value === undefined) {
        this.#waste(Math.max(this.#line.length, LEAST_LINE));
        this.#field(this.#line.toString());
      } else {
        this.#beginData();
        this.#addData(this.#line.subarray(value));
      }
    }
    if (this.#inData && this.#lineData < LEAST_DATA_LINE) this.#waste(LEAST_DATA_LINE - this.#lineData);
    this.#line = NOTHING;
    this.#lineData = 0;
    this.#inData = this.#firstLine = false;
  }

  /** Where the value of a data line begins, without one leading space; undefined for any other line. */
  #valueStart(): number | undefined {
    const line = this.#line;
    const name = this.#firstLine && line.indexOf(BOM) === 0 ? BOM.length : 0;
    const colon = name + DATA_COLON.length;
    if (line.length < colon || line.compare(DATA_COLON, 0, DATA_COLON.length, name, colon) !== 0)
      return undefined;
    return line[colon] === SPACE ? colon + 1 : colon;
  }

  #field(text: string): void {
    const line = this.#firstLine && text.startsWith('\ufeff') ? text.slice(1) : text;
    if (line === '') {
      this.#dispatch();
      return;
    }
    this.#anyField = true;
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#beginData();
    else if (name === 'event') this.#type = value;
    // An id is sent back in a header, so one that does not fit there is ignored.
    else if (name === 'id') this.#id = /^[\x20-\x7e]{0,1024}$/.test(value) ? value : this.#id;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  #beginData(): void {
    this.#inData = this.#anyField = true;
    if (this.#dataLines++ > 0) this.#addData(NEWLINE);
  }

  #addData(piece: Buffer): void {
    this.#lineData += piece.length;
    if (this.#oversize === undefined && this.#data.length + piece.length <= this.#limit) {
      this.#data.add(piece);
      return;
    }
    if (this.#oversize !== undefined) this.#waste(piece.length / OVERRUN);
    const more = Buffer.concat([...this.#data.take(), piece]);
    const { head, tail } = this.#oversize ?? { head: NOTHING, tail: NOTHING };
    this.#oversize = {
      head:
        head.length < FRAGMENT_BYTES
          ? Buffer.concat([head, more.subarray(0, FRAGMENT_BYTES - head.length)])
          : head,
      tail: Buffer.concat([tail, more.subarray(-FRAGMENT_BYTES)]).subarray(-FRAGMENT_BYTES),
    };
  }

  #waste(bytes: number): void {
    this.#wasted += bytes;
    if (this.#wasted < WASTE_STEP) return;
    this.#events.waste(this.#wasted);
    this.#wasted = 0;
  }

  #dispatch(): void {
    if (this.#anyField) this.count++;
    if (this.#id !== undefined) this.lastEventId = this.#id === '' ? undefined : this.#id;
    const type = this.#type === '' ? 'message' : this.#type;
    const oversize = this.#oversize;
    const hasData = this.#data.length > 0;
    const data = this.#data.take();
    // A few short lines belong to every event.
    if (hasData) this.#wasted = 0;
    this.#dataLines = 0;
    this.#type = '';
    this.#id = this.#oversize = undefined;
    this.#anyField = false;
    if (oversize) this.#events.oversize(oversize.head, oversize.tail);
    else if (hasData) this.#events.event(type, data);
  }
}

/** Small pieces are joined in groups of this many, to reduce bookkeeping for a message in tiny chunks. */
const GROUP = 1024;

/** Collects bytes as they arrive. Each byte is copied at most once, however the chunks are cut. */
export class ByteCollector {
  /** The total length, in bytes. */
  length = 0;
  #pieces: Buffer[] = [];
  /** How many of the first pieces are joined groups. */
  #groups = 0;

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#groups < GROUP) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#groups)));
    this.#groups++;
  }

  /** Returns the pieces collected so far and starts over. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#groups = 0;
    this.length = 0;
    return pieces;
  }
}
