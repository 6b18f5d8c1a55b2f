import type { IncomingHttpHeaders } from 'node:http';
import { ownMember } from '../../shared/own-member.ts';
import { printableLine } from '../../shared/printable.ts';
import { Client, isModernVersion } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';

/** A parameter of a tool that is repeated in a header. */
export interface RepeatedParam {
  /** The part after `Mcp-Param-`. */
  readonly header: string;
  /** Its path in the arguments. */
  readonly path: readonly string[];
}

/**
 * The fault in the headers of a modern request, as a sentence; undefined if there is none. The headers repeat parts of
 * the body for proxies that do not read bodies. If they differ from the body, a proxy has made its decision about a
 * different request.
 */
export function headerFault(
  headers: IncomingHttpHeaders,
  request: Message,
  paramHeaders: (tool: string) => readonly RepeatedParam[],
): string | undefined {
  const method = request.requiredString(Client.method);
  const version = request.string(Client.version);
  // A missing or unsupported version gets its own error.
  if (version === undefined) return undefined;
  const fault = sameFault('MCP-Protocol-Version', valueOf(headers, 'MCP-Protocol-Version'), version);
  if (fault !== undefined || !isModernVersion(version)) return fault;
  return (
    sameFault('Mcp-Method', valueOf(headers, 'Mcp-Method'), method) ??
    nameFault(headers, request, method) ??
    (method === 'tools/call' ? paramsFault(headers, request, paramHeaders) : undefined)
  );
}

/** The member of each method that is repeated in Mcp-Name. */
const NAMES: ReadonlyMap<string, { readonly slot: number; readonly required: boolean }> = new Map([
  ['tools/call', { slot: Client.name, required: true }],
  ['prompts/get', { slot: Client.name, required: true }],
  ['resources/read', { slot: Client.uri, required: true }],
  // Tasks are an extension, and not every client follows it exactly.
  ['tasks/get', { slot: Client.taskId, required: false }],
  ['tasks/update', { slot: Client.taskId, required: false }],
  ['tasks/cancel', { slot: Client.taskId, required: false }],
]);

function sameFault(header: string, given: string | undefined, wanted: string): string | undefined {
  if (given === wanted) return undefined;
  return given === undefined
    ? `the ${header} header is missing; the body says ${shown(wanted)}`
    : `the ${header} header says ${shown(given)}, the body ${shown(wanted)}`;
}

function nameFault(headers: IncomingHttpHeaders, request: Message, method: string): string | undefined {
  const rule = NAMES.get(method);
  const wanted = rule && request.string(rule.slot);
  // A missing name fails later, with a better error.
  if (rule === undefined || wanted === undefined) return undefined;
  const given = valueOf(headers, NAME);
  if (given === undefined) return rule.required ? sameFault(NAME, given, wanted) : undefined;
  const plain = decoded(given);
  return plain === undefined ? unreadable(NAME) : sameFault(NAME, plain, wanted);
}

const NAME = 'Mcp-Name';

function paramsFault(
  headers: IncomingHttpHeaders,
  request: Message,
  paramHeaders: (tool: string) => readonly RepeatedParam[],
): string | undefined {
  const tool = request.string(Client.name);
  const params = tool === undefined ? [] : paramHeaders(tool);
  if (params.length === 0) return undefined;
  const args = request.value(Client.arguments);
  for (const { header, path } of params) {
    const fault = paramFault(headers, `Mcp-Param-${header}`, path, path.reduce(ownMember, args));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Names the parameter but not its value, which may be a secret. */
function paramFault(
  headers: IncomingHttpHeaders,
  header: string,
  path: readonly string[],
  value: unknown,
): string | undefined {
  const given = valueOf(headers, header);
  const name = shown(header);
  const where = shown(`arguments.${path.join('.')}`);
  if (value === undefined || value === null)
    return given === undefined ? undefined : `the header ${name} is present, but ${where} is not`;
  if (given === undefined)
    return fitsHeader(value) ? `the header ${name} is missing; it must match ${where}` : undefined;
  const plain = decoded(given);
  if (plain === undefined) return unreadable(name);
  return saysSame(plain, value) ? undefined : `the header ${name} does not match ${where}`;
}

/** Whether clients can put the value in a header: larger numbers have no common notation. */
function fitsHeader(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value === 'string' || typeof value === 'boolean';
}

function saysSame(header: string, value: unknown): boolean {
  if (typeof value === 'number') return DECIMAL.test(header) && Number(header) === value;
  return typeof value === 'boolean' ? header === String(value) : header === value;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** The value of a header, decoded if it is marked as Base64; undefined if it is not valid text. */
function decoded(value: string): string | undefined {
  if (!PLAIN.test(value)) return undefined;
  const base64 = MARKED.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  // Node skips invalid Base64.
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const PLAIN = /^[\t\x20-\x7e]*$/;
const MARKED = /^=\?base64\?(.*)\?=$/;

function unreadable(header: string): string {
  return `the ${header} header is neither printable ASCII nor Base64 of UTF-8 between =?base64? and ?=`;
}

/** The value of a header, which Node stores under its lower-case name. */
function valueOf(headers: IncomingHttpHeaders, header: string): string | undefined {
  const value = headers[header.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

const LONGEST_SHOWN = 100;

function shown(text: string): string {
  const cut = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  return `'${printableLine(cut)}'`;
}
