import { viewsOf } from './bytes.ts';
import { addEdit, onOneLine, type Edit } from './edit.ts';
import { Envelope } from './envelope.ts';
import type { Message } from './message.ts';

/** Neighboring pieces below this size are joined; larger ones are sent without a copy. */
const COPY_BELOW = 4 * 1024;

/** The bytes of one message, in order. */
export interface SerializedMessage {
  readonly pieces: readonly Buffer[];
  /** The length of all pieces together. */
  readonly length: number;
}

/**
 * The bytes of a message with its edits, on one line and without a line ending. `id` replaces the id of the message: a
 * number, or the request whose id it gets. Default: the id is unchanged.
 */
export function serialize(
  message: Message,
  edits: readonly Edit[],
  id?: number | Message,
): SerializedMessage {
  const { bytes } = message;
  const pieces: Buffer[] = [];
  let at = bytes.from;
  for (const { start, end, with: replacement } of id === undefined ? edits : withId(message, edits, id)) {
    if (at < start) pieces.push(...viewsOf(bytes, at, start));
    if (typeof replacement === 'string') pieces.push(Buffer.from(onOneLine(replacement)));
    else pieces.push(...viewsOf(replacement.of, replacement.start, replacement.end));
    at = end;
  }
  if (at < bytes.to) pieces.push(...viewsOf(bytes, at, bytes.to));
  return joined(pieces);
}

/** The bytes of a JSON text on one line. */
export function serializeText(json: string): SerializedMessage {
  const piece = Buffer.from(json);
  return { pieces: [piece], length: piece.length };
}

function withId(message: Message, edits: readonly Edit[], id: number | Message): Edit[] {
  const all = [...edits];
  const replacement =
    typeof id === 'number'
      ? String(id)
      : { of: id.bytes, start: id.start(Envelope.id), end: id.end(Envelope.id) };
  addEdit(all, { start: message.start(Envelope.id), end: message.end(Envelope.id), with: replacement });
  return all;
}

function joined(all: readonly Buffer[]): SerializedMessage {
  const pieces: Buffer[] = [];
  let small: Buffer[] = [];
  let length = 0;
  const joinSmall = (): void => {
    if (small.length > 0) pieces.push(small.length === 1 ? small[0]! : Buffer.concat(small));
    small = [];
  };
  for (const piece of all) {
    length += piece.length;
    if (piece.length < COPY_BELOW) small.push(piece);
    else {
      joinSmall();
      pieces.push(piece);
    }
  }
  joinSmall();
  return { pieces, length };
}
