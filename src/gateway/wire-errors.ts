import type { SwitchboardError } from '../shared/errors.ts';
import { plain } from '../shared/printable.ts';
import { RESOURCE_NOT_FOUND, type JsonObject } from '../protocol/index.ts';
import { RpcCode } from '../wire/index.ts';

/** How an error looks on the wire: a JSON-RPC error, or a tool result that says it is one. */
export type WireAnswer =
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'result'; readonly result: JsonObject };

/** Errors that mean the request itself was wrong, whatever it was about. */
const REQUEST_CODES: Readonly<Record<string, number>> = {
  METHOD_UNKNOWN: RpcCode.methodNotFound,
  TOOL_UNKNOWN: RpcCode.invalidParams,
  TOOL_NOT_ALLOWED: RpcCode.invalidParams,
  PROMPT_UNKNOWN: RpcCode.invalidParams,
  RESOURCE_UNKNOWN: RpcCode.invalidParams,
  PARAMS_INVALID: RpcCode.invalidParams,
  REQUEST_INVALID: RpcCode.invalidRequest,
};

/**
 * The one place where our errors become wire errors, in the codes of the era with a handshake. What goes wrong inside a known tool is told to the model as a
 * result, so that it can do something about it; a host that frames with Content-Length expects −32000 instead.
 */
export function wireAnswer(error: SwitchboardError, method: string, framed: boolean): WireAnswer {
  const isMissing = error.code === 'RESOURCE_UNKNOWN' && method.startsWith('resources/');
  const code = isMissing ? RESOURCE_NOT_FOUND : REQUEST_CODES[error.code];
  // It may quote what a server or a client said, and ends up before a model or on a terminal.
  const text = plain(error.explained);
  if (code !== undefined) return { kind: 'error', code, message: text };
  if (method !== 'tools/call' || framed) return { kind: 'error', code: RpcCode.serverError, message: text };
  return { kind: 'result', result: { content: [{ type: 'text', text }], isError: true } };
}
