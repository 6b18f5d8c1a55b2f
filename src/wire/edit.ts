import { fromChunks, textOf, type Bytes } from './bytes.ts';
import type { Message } from './message.ts';

/** A replacement in a message that is relayed. Edits of one message are in order and do not overlap. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  /** The replacement: JSON text, or a range of this or another message. */
  readonly with: string | Excerpt;
}

export interface Excerpt {
  readonly of: Bytes;
  readonly start: number;
  readonly end: number;
}

/** A JSON text on one line, ready to be put into many messages. */
export function excerptOf(json: string): Excerpt {
  const bytes = Buffer.from(json);
  return { of: fromChunks([bytes]), start: 0, end: bytes.length };
}

/** The replacement of an edit, as text. */
export function insertedText(inserted: Edit['with']): string {
  return typeof inserted === 'string' ? inserted : textOf(inserted.of, inserted.start, inserted.end);
}

/** Inserts an edit in order. */
export function addEdit(edits: Edit[], edit: Edit): void {
  let at = edits.length;
  while (at > 0 && edits[at - 1]!.start > edit.start) at--;
  if (at === edits.length) edits.push(edit);
  else edits.splice(at, 0, edit);
}

/** The JSON text of a member once the edits are made; undefined where it is absent. */
export function editedMember(message: Message, slot: number, edits: readonly Edit[]): string | undefined {
  const start = message.start(slot);
  const end = message.end(slot);
  const edit = edits.find((each) => each.start === start && each.end === end);
  return edit === undefined ? message.text(slot) : insertedText(edit.with);
}

/** The same as a value, where it is a string. */
export function editedString(message: Message, slot: number, edits: readonly Edit[]): string | undefined {
  const text = editedMember(message, slot, edits);
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return typeof value === 'string' ? value : undefined;
}

/** By how much edits make a message longer. */
export function growth(edits: readonly Edit[]): number {
  let bytes = 0;
  for (const edit of edits) {
    bytes += typeof edit.with === 'string' ? Buffer.byteLength(edit.with) : edit.with.end - edit.with.start;
    bytes -= edit.end - edit.start;
  }
  return bytes;
}

/** A message as text, with its edits done: for a reader inside this program. */
export function editedText({ bytes }: Message, edits: readonly Edit[]): string {
  let text = '';
  let at = bytes.from;
  for (const edit of edits) {
    text += textOf(bytes, at, edit.start);
    text += insertedText(edit.with);
    at = edit.end;
  }
  return text + textOf(bytes, at, bytes.to);
}

/**
 * A line break in JSON text can only be between tokens, where it has no meaning, and would end the message on a
 * line-framed wire. The rest would be a message of its own, so every serializer replaces line breaks in inserted text.
 */
export function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\n\r]/g, ' ') : json;
}
