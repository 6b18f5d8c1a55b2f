import { isObject } from '../shared/is-object.ts';
import type { JsonObject } from '../protocol/index.ts';

/**
 * The content of a tool's result for a model: only texts, images and sounds, and not more than it can read. `dataLeft`:
 * how much more images and sounds may be included, in characters of base64. Default: the limit of one result.
 */
export function contentForModel(result: JsonObject, dataLeft = MOST_DATA): JsonObject[] {
  const blocks = blocksOf(result);
  const room: Room = { text: MOST_TEXT, data: Math.min(dataLeft, MOST_DATA) };
  const content = blocks.flatMap((block) => blockForModel(block, room));
  if (content.length === 0) return [textBlock('The tool returned no content.')];
  return content;
}

/** The size of images and sounds in a content, in characters of base64. */
export function dataIn(content: readonly JsonObject[]): number {
  return content.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : 0), 0);
}

/** The parts of a result that are not text, unchanged. */
export function attachmentsOf(result: JsonObject): JsonObject[] {
  return blocksOf(result).filter(({ type }) => typeof type === 'string' && ATTACHED.has(type));
}

/** The first text, where there is room for one sentence. */
export function firstText(result: JsonObject): string | undefined {
  const text = blocksOf(result).find(({ type }) => type === 'text')?.text;
  return typeof text === 'string' ? text : undefined;
}

export function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

const ATTACHED = new Set(['image', 'audio', 'resource', 'resource_link']);

/** The limit of one result, in characters. */
const MOST_TEXT = 100_000;

/** The limit of one result's images and sounds together, in characters of base64. */
const MOST_DATA = 5_000_000;

interface Room {
  text: number;
  data: number;
}

function blocksOf({ content, structuredContent }: JsonObject): JsonObject[] {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  if (blocks.length > 0 || structuredContent === undefined) return blocks;
  return [textBlock(JSON.stringify(structuredContent))];
}

function blockForModel(block: JsonObject, room: Room): JsonObject[] {
  const { type } = block;
  if ((type === 'image' || type === 'audio') && typeof block.data === 'string') {
    if (block.data.length <= room.data) {
      room.data -= block.data.length;
      return [block];
    }
    return inText(`(${kindOf(type, block.mimeType)}, too large to be shown here.)`, room);
  }
  return inText(asText(block), room);
}

function inText(text: string, room: Room): JsonObject[] {
  if (text === '') return [];
  if (text.length <= room.text) {
    room.text -= text.length;
    return [textBlock(text)];
  }
  const kept = room.text;
  room.text = 0;
  const cut = `(Cut off here: ${text.length - kept} of ${text.length} characters are not shown. Ask for less at a time.)`;
  return [textBlock(kept === 0 ? cut : `${wholeCharacters(text, kept)}\n${cut}`)];
}

/** The beginning of a text, without half a character at the end. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

function asText(block: JsonObject): string {
  if (typeof block.text === 'string') return block.text;
  if (block.type === 'resource_link') return `(A link to the resource ${named(block)}.)`;
  const { resource } = block;
  if (block.type === 'resource' && isObject(resource)) {
    if (typeof resource.text === 'string') return `Resource ${named(resource)}:\n${resource.text}`;
    return `(The resource ${named(resource)}, which is not text.)`;
  }
  return `(Content of type ${short(block.type) ?? 'unknown'}, which cannot be shown here.)`;
}

function named({ uri, name, mimeType }: JsonObject): string {
  const known = [short(uri), short(name), short(mimeType)].filter((part) => part !== undefined);
  return known.length === 0 ? 'without an address' : known.join(', ');
}

function kindOf(type: string, mimeType: unknown): string {
  const article = type === 'image' ? 'An image' : 'A sound';
  const kind = short(mimeType);
  return kind === undefined ? article : `${article} of type ${kind}`;
}

function short(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : undefined;
}
