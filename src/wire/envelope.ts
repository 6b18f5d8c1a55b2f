import type { ShapeSpec } from './shape.ts';

/** The members of every JSON-RPC message. The shape of a peer starts with these. */
export const ENVELOPE = {
  jsonrpc: true,
  id: true,
  method: true,
  params: true,
  result: true,
  error: true,
} as const satisfies ShapeSpec;

/** Their slots in every such shape: the members of the outermost object are numbered first, in order. */
export const Envelope = { jsonrpc: 0, id: 1, method: 2, params: 3, result: 4, error: 5 } as const;

/** The error codes defined by JSON-RPC 2.0. */
export const RpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverError: -32000,
} as const;

/** A successful answer as JSON text. The id and the result are JSON text on one line. */
export function resultJson(id: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** An error as JSON text. The id is JSON text, or undefined if none could be read. */
export function errorJson(id: string | undefined, code: number, message: string, data?: unknown): string {
  const error = JSON.stringify({ code, message, data });
  return `{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${error}}`;
}

/** A notification as JSON text. The params are JSON text on one line. */
export function notificationJson(method: string, params: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`;
}
