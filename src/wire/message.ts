import { Envelope } from './envelope.ts';
import { contiguous, byteAt, fromChunks, textOf, viewsOf, type Bytes } from './bytes.ts';
import type { Framing } from './framing.ts';
import { internPlain } from './intern.ts';
import { memoizedObject, sawLineBreak, scan, ScanOutcome } from './scan.ts';
import { defineShape, FIRST_RARE, type Offsets, type Shape } from './shape.ts';

const QUOTE = 0x22;
/** Messages in chunks are joined for a search up to this size. */
const JOIN_BELOW = 1024 * 1024;
/** In a longer message, the rare members are always found with the others: a second scan would take as long again. */
const SCAN_TWICE_BELOW = 1024 * 1024;
/**
 * The longest value that is parsed, in bytes. Parsing a megabyte takes up to 30 ms, and relaying requires no parsing.
 */
export const MAX_PARSED = 1024 * 1024;

/** One JSON-RPC message: the bytes as they arrived, and the offsets of the members in its shape. */
export class Message {
  readonly bytes: Bytes;
  readonly offsets: Offsets;
  /** Identifies the memoized object in it: two messages with the same identity have the same bytes there. */
  readonly memoized: object | undefined;
  readonly #rareShape: Shape | undefined;
  #rareOffsets: Offsets | undefined;
  /** The position in the offsets where those of the rare members start. */
  #rareFrom: number;

  /** With `rareFrom`, the offsets of the rare members begin there among the others. */
  // eslint-disable-next-line @typescript-eslint/max-params -- runs for every message
  constructor(bytes: Bytes, offsets: Offsets, rareShape?: Shape, rareFrom?: number, memoized?: object) {
    this.bytes = bytes;
    this.offsets = offsets;
    this.memoized = memoized;
    this.#rareShape = rareShape;
    this.#rareOffsets = rareFrom === undefined ? undefined : offsets;
    this.#rareFrom = (rareFrom ?? 0) - FIRST_RARE;
  }

  /** A message of our own, in the same form as a received one. */
  static from(value: object, shape: Shape): Message {
    return Message.fromText(JSON.stringify(value), shape);
  }

  /** The same, from JSON text on one line. */
  static fromText(text: string, shape: Shape): Message {
    return Message.fromPieces([Buffer.from(text)], shape);
  }

  /** The same, from bytes in pieces. */
  static fromPieces(pieces: readonly Buffer[], shape: Shape): Message {
    const read = readMessage(fromChunks(pieces), shape, 'newline');
    if (!(read instanceof Message)) throw new Error('A message of our own did not pass the scan');
    return read;
  }

  /** The same message with the members of another shape; undefined if one of them is duplicated. */
  as(shape: Shape): Message | undefined {
    const read = readMessage(this.bytes, shape, 'content-length');
    return read instanceof Message ? read : undefined;
  }

  get length(): number {
    return this.bytes.to - this.bytes.from;
  }

  has(slot: number): boolean {
    return this.start(slot) !== -1;
  }

  start(slot: number): number {
    return slot < FIRST_RARE ? this.offsets[slot * 2]! : this.#rare()[(slot + this.#rareFrom) * 2]!;
  }

  end(slot: number): number {
    return slot < FIRST_RARE ? this.offsets[slot * 2 + 1]! : this.#rare()[(slot + this.#rareFrom) * 2 + 1]!;
  }

  /** Scans again for the rarely used members. A duplicate counts as absent. */
  #rare(): Offsets {
    if (this.#rareOffsets) return this.#rareOffsets;
    const shape = this.#rareShape;
    if (shape === undefined) throw new Error('The shape of this message has no rare members');
    const { bytes } = this;
    const run = contiguous(bytes);
    const offsets = shape.offsets();
    const outcome = scan(run.buffer, run.from, run.to, shape, offsets);
    this.#rareOffsets = outcome === ScanOutcome.Object ? offsets : shape.offsets();
    return this.#rareOffsets;
  }

  /**
   * The first byte of a member's value, which shows its type: `{`, `[`, `"`, a digit or minus, t, f, n. −1 if absent.
   */
  lead(slot: number): number {
    const start = this.start(slot);
    return start < 0 ? -1 : byteAt(this.bytes, start);
  }

  /** The JSON text of a member; undefined if it is absent. With `most`, at most this many bytes of it. */
  text(slot: number, most = Infinity): string | undefined {
    const start = this.start(slot);
    return start < 0 ? undefined : textOf(this.bytes, start, Math.min(this.end(slot), start + most));
  }

  /** The JSON text of a member as bytes, in pieces; undefined if it is absent. */
  pieces(slot: number): readonly Buffer[] | undefined {
    const start = this.start(slot);
    return start < 0 ? undefined : viewsOf(this.bytes, start, this.end(slot));
  }

  /** The JSON text of a member that every message of this kind has, such as the id of a request. */
  requiredText(slot: number): string {
    return this.text(slot) ?? missing(slot);
  }

  /** Whether a member consists of exactly these bytes; allocates nothing. */
  spells(slot: number, spelling: Uint8Array): boolean {
    const start = this.start(slot);
    const { length } = spelling;
    if (start < 0 || this.end(slot) - start !== length) return false;
    const { bytes } = this;
    const { buffer } = bytes;
    let at = 0;
    if (buffer !== undefined) while (at < length && spelling[at] === buffer[start + at]) at++;
    else while (at < length && spelling[at] === byteAt(bytes, start + at)) at++;
    return at === length;
  }

  /** The value of a member; undefined if it is absent, or too long to be parsed without delaying others. */
  value(slot: number): unknown {
    if (this.end(slot) - this.start(slot) > MAX_PARSED) return undefined;
    const text = this.text(slot);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** The value of a member if it is a string; otherwise undefined. */
  string(slot: number): string | undefined {
    if (this.lead(slot) !== QUOTE) return undefined;
    const { buffer } = this.bytes;
    const plain = buffer && internPlain(buffer, this.start(slot) + 1, this.end(slot) - 1);
    return plain ?? (JSON.parse(this.text(slot)!) as string);
  }

  /** The same for a member that is a string in every message of this kind, such as the method of a request. */
  requiredString(slot: number): string {
    return this.string(slot) ?? missing(slot);
  }

  /** The value of a member if it is a positive integer of up to 15 characters in any notation; otherwise 0. */
  integer(slot: number): number {
    const start = this.start(slot);
    const end = this.end(slot);
    if (start < 0 || end - start > 15) return 0;
    let value = 0;
    for (let at = start; at < end; at++) {
      const digit = byteAt(this.bytes, at) - 0x30;
      if (digit < 0 || digit > 9 || (digit === 0 && at === start)) return wholeNumber(this.text(slot)!);
      value = value * 10 + digit;
    }
    return value;
  }

  /** Whether the message contains this text anywhere; false, without a search, for a large message in chunks. */
  mentions(word: string): boolean {
    const { buffer, from, to } = this.bytes;
    if (buffer === undefined) return to - from <= JOIN_BELOW && this.toString().includes(word);
    // Searches only this message, because the buffer may contain many others.
    return buffer.subarray(from, to).indexOf(word, 0, 'latin1') !== -1;
  }

  /** The whole message as text. */
  toString(): string {
    return textOf(this.bytes, this.bytes.from, this.bytes.to);
  }
}

/** For example, `7.0`. */
function wholeNumber(json: string): number {
  const value = Number(json);
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** A bug of ours: the member's presence was checked when the message was received. */
function missing(slot: number): never {
  throw new Error(`A message lacks the member of slot ${slot}`);
}

/** Why bytes are not a message, and their id if it could be read. */
export interface UnreadableMessage {
  readonly why: ReadFault;
  readonly id: string | undefined;
}

export type ReadFault =
  'malformed' | 'too-deep' | 'too-many-members' | 'duplicate' | 'duplicate-param' | 'not-an-object';

/**
 * Checks bytes received in the given framing and finds the members of the shape; with `whole`, the rare members as
 * well.
 */
export function readMessage(
  bytes: Bytes,
  shape: Shape,
  framing: Framing,
  whole: boolean = false,
): Message | UnreadableMessage {
  const { buffer, from, to } = contiguous(bytes);
  const all = whole || to - from > SCAN_TWICE_BELOW ? shape.whole : shape;
  if (all !== shape) {
    const offsets = all.offsets();
    // Otherwise the message is scanned again: a duplicate rare member is no reason to refuse it.
    if (scan(buffer, from, to, all, offsets) === ScanOutcome.Object && !sawLineBreak())
      return new Message(bytes, offsets, shape.rare, shape.slots, memoizedObject());
  }
  const offsets = shape.offsets();
  const outcome = scan(buffer, from, to, shape, offsets);
  if (outcome !== ScanOutcome.Object) return refuse(outcome, buffer.subarray(from, to), offsets);
  if (!sawLineBreak()) return new Message(bytes, offsets, shape.rare);
  // A lone carriage return inside a line: some readers end the line there, so one reader would see two messages where
  // another sees one.
  if (framing === 'newline') return { why: 'malformed', id: undefined };
  // Line breaks between the tokens of a Content-Length body have no meaning, but the message may be relayed to a wire
  // where a line break ends it.
  return new Message(flattened(bytes), shifted(offsets, from), shape.rare);
}

/** The bytes of a JSON object, on one line; undefined for anything else. */
export function readObject(json: string | Buffer): Bytes | undefined {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  const read = readMessage(fromChunks([bytes]), ANYTHING, 'content-length');
  return read instanceof Message ? read.bytes : undefined;
}

const ANYTHING = defineShape({});

function refuse(outcome: number, bytes: Buffer, offsets: Offsets): UnreadableMessage {
  switch (outcome) {
    case ScanOutcome.OtherValue:
      return { why: 'not-an-object', id: undefined };
    case ScanOutcome.TooDeep:
      return { why: 'too-deep', id: firstId(bytes) };
    case ScanOutcome.TooMany:
      return { why: 'too-many-members', id: firstId(bytes) };
    case ScanOutcome.Duplicate: {
      // If the scan entered params but did not leave it, the duplicate is inside.
      const place = Envelope.params * 2;
      const inParams = offsets[place] !== -1 && offsets[place + 1]! < 0;
      return { why: inParams ? 'duplicate-param' : 'duplicate', id: firstId(bytes) };
    }
    case ScanOutcome.Malformed:
      return { why: 'malformed', id: firstId(withoutBom(bytes)) };
    default:
      return { why: 'malformed', id: undefined };
  }
}

/** Skips a byte order mark, which does not belong anywhere except at the start of a stream. */
function withoutBom(bytes: Buffer): Buffer {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return marked ? bytes.subarray(3) : bytes;
}

const ID_ONLY = defineShape({ id: true });

/**
 * The id of a message that was too large to keep, from its first and last bytes; undefined if neither shows it. At the
 * end, only a number directly before the last brace is trusted: there it must be a member of the outermost object.
 */
export function idFromFragments(head: Buffer, tail: Buffer): string | undefined {
  return firstId(head) ?? /[{,]\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/.exec(tail.toString('latin1'))?.[1];
}

/** The id of a message that is truncated or malformed after the id; undefined also if there are two. */
function firstId(bytes: Buffer): string | undefined {
  const offsets = ID_ONLY.offsets();
  const outcome = scan(bytes, 0, bytes.length, ID_ONLY, offsets);
  const [start, end] = offsets;
  // What was found before the scan failed is correct, unless the value reaches the cut and may continue after it.
  if (outcome === ScanOutcome.Duplicate || start! < 0 || end! <= start! || end! >= bytes.length)
    return undefined;
  return bytes.toString('utf8', start, end);
}

function flattened(bytes: Bytes): Bytes {
  const copy = Buffer.concat(viewsOf(bytes, bytes.from, bytes.to));
  for (let at = 0; at < copy.length; at++) if (copy[at] === 0x0a || copy[at] === 0x0d) copy[at] = 0x20;
  return fromChunks([copy]);
}

function shifted(offsets: Offsets, by: number): Offsets {
  return offsets.map((place) => (place < 0 ? place : place - by));
}
