import type { ShapeSpec } from './scan.ts';

/** The members of every JSON-RPC message; a shape for a peer contains at least these, in this order. */
export const ENVELOPE = {
  jsonrpc: true,
  id: true,
  method: true,
  params: true,
  result: true,
  error: true,
} as const satisfies ShapeSpec;

/** JSON-RPC 2.0's own error codes. */
export const RpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverError: -32000,
} as const;
