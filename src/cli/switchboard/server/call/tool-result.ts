import { isObject } from '../../../../shared/is-object.ts';
import { plain, plainLine } from '../../../../shared/printable.ts';
import { counted } from '../../../kit/text.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A tool's result for a person: text as it is, and one line for everything else, with the file it was saved to. */
export function resultText(result: JsonObject, saved: ReadonlyMap<unknown, string> = new Map()): string {
  const content = Array.isArray(result.content) ? (result.content as unknown[]) : [];
  const parts = content.map((part) => partText(part, saved.get(part) ?? ''));
  // Some servers return only structured content.
  if (parts.length === 0 && result.structuredContent !== undefined) {
    parts.push(plain(JSON.stringify(result.structuredContent, undefined, 2)));
  }
  return parts.map((part) => (part.endsWith('\n') ? part : `${part}\n`)).join('');
}

function partText(part: unknown, file: string): string {
  if (!isObject(part)) return '[not a content block]';
  switch (part.type) {
    case 'text':
      return plain(string(part.text).replaceAll('\r\n', '\n'));
    case 'image':
    case 'audio':
      return described(string(part.mimeType) || part.type, base64Size(part.data), file);
    case 'resource_link':
      return described('resource', string(part.uri), string(part.name), string(part.mimeType));
    case 'resource': {
      const resource = isObject(part.resource) ? part.resource : {};
      const { uri, mimeType, text, blob } = resource;
      const size = typeof text === 'string' ? sizeText(Buffer.byteLength(text)) : base64Size(blob);
      return described('resource', string(uri), string(mimeType), size, file);
    }
    default:
      return described(string(part.type) || 'content of no type', sizeText(JSON.stringify(part).length));
  }
}

function described(...facts: readonly string[]): string {
  return `[${facts
    .filter((fact) => fact !== '')
    .map(plainLine)
    .join(', ')}]`;
}

function base64Size(data: unknown): string {
  if (typeof data !== 'string') return '';
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return sizeText(Math.max(0, Math.floor((data.length * 3) / 4) - padding));
}

/** `812 bytes`, `12 kB`, `3.4 MB` */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
