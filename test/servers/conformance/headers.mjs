/** The headers that repeat parts of a modern request must say the same as its body. */
import { own, RpcError } from './answer.mjs';

const NAMED = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
const ENCODED = /^=\?base64\?(.*)\?=$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function checkHeaders({ headers }, { method, params }, serverState) {
  if (headers['mcp-method'] !== method) throw mismatch('Mcp-Method');
  const field = own(NAMED, method);
  if (field !== undefined && decode(headers['mcp-name'], 'Mcp-Name') !== params[field])
    throw mismatch('Mcp-Name');
  if (method !== 'tools/call') return;
  const schema = own(serverState.tools('modern'), params.name)?.inputSchema;
  for (const [property, { 'x-mcp-header': suffix }] of Object.entries(schema?.properties ?? {})) {
    if (suffix === undefined) continue;
    const name = `Mcp-Param-${suffix}`;
    const given = params.arguments?.[property] ?? undefined;
    const expected = given === undefined ? undefined : String(given);
    if (decode(headers[name.toLowerCase()], name) !== expected) throw mismatch(name);
  }
}

function decode(value, name) {
  const inner = ENCODED.exec(value ?? '')?.[1];
  if (inner === undefined) return value;
  if (!BASE64.test(inner)) throw mismatch(name);
  return Buffer.from(inner, 'base64').toString();
}

function mismatch(name) {
  return new RpcError(-32020, `${name} is missing or differs from the body`, undefined, 400);
}
