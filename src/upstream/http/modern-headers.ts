import { isJsonObject, MODERN_VERSION } from '../../protocol/index.ts';
import type { ToolHeaders } from '../tool-headers.ts';
import { SentMember, type Outgoing } from './outgoing-stream.ts';

/**
 * The headers that say the same as the body of a modern request, for those on the way who do not read bodies. They are
 * taken from the message as it goes out, so that the two cannot differ.
 */
export function modernHeaders(message: Outgoing, tools: ToolHeaders | undefined): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-protocol-version': MODERN_VERSION };
  if (message.method === undefined) return headers;
  headers['mcp-method'] = inHeader(message.method);
  const slot = NAMES.get(message.method);
  const name = slot === undefined ? undefined : message.read?.string(slot);
  if (name === undefined) return headers;
  headers['mcp-name'] = inHeader(name);
  const wanted = message.method === 'tools/call' ? (tools?.of(name) ?? []) : [];
  if (wanted.length === 0) return headers;
  const given: unknown = message.read!.value(SentMember.arguments);
  for (const { header, path } of wanted) {
    const value = textOf(path.reduce(memberOf, given));
    if (value !== undefined) headers[`mcp-param-${header.toLowerCase()}`] = inHeader(value);
  }
  return headers;
}

/** Where each of these methods says what it is about. */
const NAMES: ReadonlyMap<string, number> = new Map([
  ['tools/call', SentMember.name],
  ['prompts/get', SentMember.name],
  ['resources/read', SentMember.uri],
  ['tasks/get', SentMember.taskId],
  ['tasks/update', SentMember.taskId],
  ['tasks/cancel', SentMember.taskId],
]);

/** A text as a header can carry it: as it is, or as Base64 between marks where it would not come out as it went in. */
export function inHeader(value: string): string {
  const plain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !/^=\?base64\?.*\?=$/.test(value);
  return plain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Only what can be told in one word goes into a header; null counts as not there. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}
