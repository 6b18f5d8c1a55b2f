import { ERROR_CODES, SERVER_ERROR } from '../shared/error-codes.ts';
import type { SwitchboardError } from '../shared/errors.ts';
import { plain } from '../shared/printable.ts';
import { RESOURCE_NOT_FOUND, type JsonObject } from '../protocol/index.ts';

/** An error on the wire: a JSON-RPC error, or a tool result that is marked as an error. */
export type WireAnswer =
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'result'; readonly result: JsonObject };

/**
 * The one place where our errors become wire errors, with the codes of the era with a handshake. An error inside a
 * known tool becomes a tool result, so that the model can react to it; a host that frames with Content-Length expects
 * −32000 instead.
 */
export function wireAnswer(error: SwitchboardError, method: string, framed: boolean): WireAnswer {
  const isMissing = error.code === 'RESOURCE_UNKNOWN' && method.startsWith('resources/');
  const code = isMissing ? RESOURCE_NOT_FOUND : ERROR_CODES[error.code].wire;
  // It may quote a server or client, and may reach a model or a terminal.
  const text = plain(error.explained);
  if (code !== SERVER_ERROR) return { kind: 'error', code, message: text };
  if (method !== 'tools/call' || framed) return { kind: 'error', code, message: text };
  return { kind: 'result', result: { content: [{ type: 'text', text }], isError: true } };
}
