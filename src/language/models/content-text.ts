import { isObject } from '../../shared/is-object.ts';
import type { JsonObject } from '../../protocol/index.ts';

/** A part of a tool's result for a model that only reads text; empty if there is nothing to read. */
export function contentText(block: JsonObject): string {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
    case 'audio':
      return unseen(block.type === 'image' ? 'An image' : 'A sound', block.mimeType, block.data);
    case 'resource_link':
      return `[Link to ${about(block)}]`;
    case 'resource': {
      const inner = isObject(block.resource) ? block.resource : {};
      return typeof inner.text === 'string'
        ? `[${text(inner.uri)}]\n${inner.text}`
        : unseen(`The resource ${text(inner.uri)}`, inner.mimeType, inner.blob);
    }
    default:
      return `[The result has a part of type '${text(block.type)}' that you cannot read.]`;
  }
}

function about({ uri, name, title, description, mimeType }: JsonObject): string {
  const named = [title ?? name, mimeType, description].filter((word) => typeof word === 'string');
  return [text(uri), ...named].join(', ');
}

function unseen(what: string, mimeType: unknown, data: unknown): string {
  // Four characters of base64 encode three bytes.
  const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4 / 1000)} kB` : '';
  return `[${what} (${text(mimeType) || 'unknown type'}${size}) is part of the result; you cannot see it.]`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
