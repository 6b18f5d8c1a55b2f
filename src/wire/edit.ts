import { fromChunks, textOf, type Bytes } from './bytes.ts';
import type { Message } from './message.ts';

/** A replacement in a relayed message. The edits of a message are in order and do not overlap. */
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

/** A JSON text on one line, ready to be inserted into many messages. */
export function excerptOf(json: string): Excerpt {
  const bytes = Buffer.from(json);
  return { of: fromChunks([bytes]), start: 0, end: bytes.length };
}

/** The replacement text of an edit. */
export function insertedText(inserted: Edit['with']): string {
  return typeof inserted === 'string' ? inserted : textOf(inserted.of, inserted.start, inserted.end);
}

/** Inserts an edit at its place in the order. */
export function addEdit(edits: Edit[], edit: Edit): void {
  let at = edits.length;
  while (at > 0 && edits[at - 1]!.start > edit.start) at--;
  if (at === edits.length) edits.push(edit);
  else edits.splice(at, 0, edit);
}

/** The JSON text of a member after the edits; undefined if it is absent. */
export function editedMember(message: Message, slot: number, edits: readonly Edit[]): string | undefined {
  const start = message.start(slot);
  const end = message.end(slot);
  const edit = edits.find((each) => each.start === start && each.end === end);
  return edit === undefined ? message.text(slot) : insertedText(edit.with);
}

/** The same as a string; undefined if it is not one. */
export function editedString(message: Message, slot: number, edits: readonly Edit[]): string | undefined {
  const text = editedMember(message, slot, edits);
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return typeof value === 'string' ? value : undefined;
}

/** How many bytes longer a message is after the edits. */
export function growth(edits: readonly Edit[]): number {
  let bytes = 0;
  for (const edit of edits) {
    bytes += typeof edit.with === 'string' ? Buffer.byteLength(edit.with) : edit.with.end - edit.with.start;
    bytes -= edit.end - edit.start;
  }
  return bytes;
}

/** The text of a message after the edits, for a reader inside this program. */
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
 * Line breaks in JSON text can only be between tokens, where they have no meaning. On a line-framed wire they would end
 * the message, and the rest would be a new message, so every serializer replaces the line breaks in inserted text.
 */
export function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\n\r]/g, ' ') : json;
}
