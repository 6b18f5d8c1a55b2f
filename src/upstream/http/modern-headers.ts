import { ownMember } from '../../shared/own-member.ts';
import { Client, MODERN_VERSION } from '../../protocol/index.ts';
import { editedString } from '../../wire/index.ts';
import type { ToolHeaders } from '../modern/tool-headers.ts';
import type { Outgoing } from './remote-messages.ts';

/**
 * The headers that repeat parts of a modern request for intermediaries that do not read bodies. They are derived from
 * the request as it is sent, so they always agree with the body.
 */
export function modernHeaders(message: Outgoing, tools: ToolHeaders | undefined): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-protocol-version': MODERN_VERSION };
  if (message.method === undefined) return headers;
  headers['mcp-method'] = inHeader(message.method);
  const name = nameIn(message, message.method);
  if (name === undefined) return headers;
  headers['mcp-name'] = inHeader(name);
  const wanted = message.method === 'tools/call' ? (tools?.of(name) ?? []) : [];
  if (wanted.length === 0) return headers;
  const args = ownMember(paramsOf(message), 'arguments');
  for (const { header, path } of wanted) {
    const value = textOf(path.reduce(ownMember, args));
    if (value !== undefined) headers[`mcp-param-${header.toLowerCase()}`] = inHeader(value);
  }
  return headers;
}

/** The parameter that names the target of each of these methods. */
const NAMES = new Map<string, 'name' | 'uri' | 'taskId'>([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

function nameIn(message: Outgoing, method: string): string | undefined {
  const key = NAMES.get(method);
  if (key === undefined) return undefined;
  const { relayed } = message;
  if (relayed !== undefined) return editedString(relayed.request, Client[key], relayed.edits);
  const name = ownMember(paramsOf(message), key);
  return typeof name === 'string' ? name : undefined;
}

/** Parses the whole body: only for our own requests, and for tools with parameters in headers. */
function paramsOf({ pieces }: Outgoing): unknown {
  return ownMember(JSON.parse(Buffer.concat(pieces).toString()), 'params');
}

/** A string in a form that a header can carry: unchanged, or in Base64 between markers if it would be altered. */
export function inHeader(value: string): string {
  const plain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !/^=\?base64\?.*\?=$/.test(value);
  return plain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

/** Only primitive values fit in a header; null counts as absent. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}
