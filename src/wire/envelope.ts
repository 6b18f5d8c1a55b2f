import type { ShapeSpec } from './shape.ts';

/** The members of every JSON-RPC message. A shape for a peer begins with these. */
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

/** JSON-RPC 2.0's own error codes. */
export const RpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverError: -32000,
} as const;
