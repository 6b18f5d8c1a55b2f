import type { Framing } from './framing.ts';
import { defineShape, sawLineBreak, scan, ScanOutcome, type Places, type Shape } from './scan.ts';

/**
 * One JSON-RPC message as the bytes it came in, with the places of the members that its shape asks for.
 * It stays in the pieces the wire delivered: joining a megabyte costs more than relaying it.
 */
export class Message {
  readonly pieces: readonly Buffer[];
  readonly length: number;
  readonly shape: Shape;
  readonly #places: Places;

  constructor(pieces: readonly Buffer[], length: number, shape: Shape, places: Places) {
    this.pieces = pieces;
    this.length = length;
    this.shape = shape;
    this.#places = places;
  }

  /** A message of our own making, so that it can take the same way as one that came over a wire. */
  static from(value: object, shape: Shape): Message {
    const read = readMessage([Buffer.from(JSON.stringify(value))], shape, 'newline');
    if (!(read instanceof Message)) throw new Error('A message of our own did not pass the scan');
    return read;
  }

  has(slot: number): boolean {
    return this.#places[slot * 2] !== -1;
  }

  start(slot: number): number {
    return this.#places[slot * 2]!;
  }

  end(slot: number): number {
    return this.#places[slot * 2 + 1]!;
  }

  /** The first byte of a member's value, which tells its type: `{`, `[`, `"`, a digit or minus, t, f, n. */
  lead(slot: number): number {
    const start = this.start(slot);
    return start < 0 ? -1 : this.byteAt(start);
  }

  /** A member's JSON text, or undefined where it is absent. */
  text(slot: number): string | undefined {
    const start = this.start(slot);
    return start < 0 ? undefined : this.bytes(start, this.end(slot)).toString();
  }

  /** A member's value, or undefined where it is absent. */
  value(slot: number): unknown {
    const text = this.text(slot);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** A member's value where it is a string, else undefined. */
  string(slot: number): string | undefined {
    return this.lead(slot) === 0x22 ? (this.value(slot) as string) : undefined;
  }

  /** The bytes of a range: a view where one piece holds it, else a copy. */
  bytes(start: number, end: number): Buffer {
    if (this.pieces.length === 1) return this.pieces[0]!.subarray(start, end);
    return Buffer.concat(this.slices(start, end));
  }

  /** The bytes of a range as views, one for each piece it touches. */
  slices(start: number, end: number): Buffer[] {
    const found: Buffer[] = [];
    let offset = 0;
    for (const piece of this.pieces) {
      const from = Math.max(start - offset, 0);
      const to = Math.min(end - offset, piece.length);
      if (from < to) found.push(piece.subarray(from, to));
      offset += piece.length;
      if (offset >= end) break;
    }
    return found;
  }

  /**
   * Finds further members inside one that this message's own shape leaves closed. Places are offsets in this
   * message. Undefined when the member is no object or names one of them twice.
   */
  look(slot: number, shape: Shape): Message | undefined {
    if (this.lead(slot) !== 0x7b) return undefined;
    const places = shape.places();
    const { bytes, offset } = contiguous(this.pieces, this.start(slot), this.end(slot));
    const length = this.end(slot) - this.start(slot);
    if (scan(bytes, offset, offset + length, shape, places) !== ScanOutcome.Object) return undefined;
    const shift = this.start(slot) - offset;
    for (let place = 0; place < places.length; place++) if (places[place] !== -1) places[place]! += shift;
    return new Message(this.pieces, this.length, shape, places);
  }

  private byteAt(offset: number): number {
    for (const piece of this.pieces) {
      if (offset < piece.length) return piece[offset]!;
      offset -= piece.length;
    }
    return -1;
  }
}

/** Why bytes are no message, and the id they carry all the same, where it can be told. */
export interface Refused {
  readonly why: Refusal;
  readonly id: string | undefined;
}

export type Refusal = 'malformed' | 'too-deep' | 'duplicate' | 'duplicate-param' | 'not-an-object';

/** Checks bytes that came in the given framing and finds what the shape asks for. */
export function readMessage(pieces: readonly Buffer[], shape: Shape, framing: Framing): Message | Refused {
  const places = shape.places();
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const { bytes } = contiguous(pieces, 0, length);
  const outcome = scan(bytes, 0, length, shape, places);
  if (outcome !== ScanOutcome.Object) return refuse(outcome, bytes, length, shape, places);
  if (!sawLineBreak()) return new Message(pieces, length, shape, places);
  // A lone carriage return inside a line: some readers end the line there, so two of them would see two messages.
  if (framing === 'newline') return { why: 'malformed', id: undefined };
  // Line breaks between the tokens of a Content-Length body carry no meaning, and the message may be passed on
  // to a wire where a line break ends it.
  return new Message([flattened(pieces)], length, shape, places);
}

function refuse(outcome: number, bytes: Buffer, length: number, shape: Shape, places: Places): Refused {
  switch (outcome) {
    case ScanOutcome.OtherValue:
      return { why: 'not-an-object', id: undefined };
    case ScanOutcome.TooDeep:
      return { why: 'too-deep', id: firstId(bytes.subarray(0, length)) };
    case ScanOutcome.Duplicate: {
      // Where params was entered but not left, the doubled member stands inside it.
      const place = shape.slot('params') * 2;
      const inParams = places[place] !== -1 && places[place + 1]! < 0;
      return { why: inParams ? 'duplicate-param' : 'duplicate', id: firstId(bytes.subarray(0, length)) };
    }
    case ScanOutcome.Malformed:
      return { why: 'malformed', id: firstId(bytes.subarray(0, length)) };
    default:
      return { why: 'malformed', id: undefined };
  }
}

const ID_ONLY = defineShape({ id: true });

/**
 * The id of a message that was too large to keep, from its first and last bytes; undefined when neither shows it.
 * At the end only a number directly before the last brace is believed: there it must be a member of the outermost object.
 */
export function idFromFragments(head: Buffer, tail: Buffer): string | undefined {
  return firstId(head) ?? /[{,]\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/.exec(tail.toString('latin1'))?.[1];
}

/** The id of a message that may break off or turn bad further on; undefined also where there are two. */
function firstId(bytes: Buffer): string | undefined {
  const places = ID_ONLY.places();
  const outcome = scan(bytes, 0, bytes.length, ID_ONLY, places);
  const [start, end] = places;
  // What was found before the scan failed is right, unless the value reaches the cut and may go on behind it.
  if (outcome === ScanOutcome.Duplicate || start! < 0 || end! <= start! || end! >= bytes.length)
    return undefined;
  return bytes.toString('utf8', start, end);
}

/** Scanning wants one run of bytes. Pieces are copied into memory that is already warm; forwarding still uses the pieces. */
const SCRATCH_BYTES = 2 * 1024 * 1024;
let scratch: Buffer | undefined;

function contiguous(
  pieces: readonly Buffer[],
  start: number,
  end: number,
): { bytes: Buffer; offset: number } {
  if (pieces.length === 1) return { bytes: pieces[0]!, offset: start };
  const length = end - start;
  scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  const target = length <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafeSlow(length);
  let offset = 0;
  let filled = 0;
  for (const piece of pieces) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, piece.length);
    if (from < to) filled += piece.copy(target, filled, from, to);
    offset += piece.length;
    if (offset >= end) break;
  }
  return { bytes: target, offset: 0 };
}

function flattened(pieces: readonly Buffer[]): Buffer {
  const copy = Buffer.concat(pieces);
  for (let index = 0; index < copy.length; index++) {
    if (copy[index] === 0x0a || copy[index] === 0x0d) copy[index] = 0x20;
  }
  return copy;
}
