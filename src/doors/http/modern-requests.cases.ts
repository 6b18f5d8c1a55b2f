import { Meta, MODERN_VERSION, type JsonObject } from '../../protocol/index.ts';
import { JSON_HEADERS, type RequestOptions } from './door.cases.ts';

/** A request as modern clients send it. */
export function modernRequest(id: unknown, method: string, params: JsonObject = {}): JsonObject {
  const _meta = {
    [Meta.protocolVersion]: MODERN_VERSION,
    [Meta.clientInfo]: { name: 'test', version: '0' },
    [Meta.clientCapabilities]: {},
    ...(params._meta as JsonObject | undefined),
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

/** A call of the tool that the test answers. */
export function modernCall(id: unknown, more: JsonObject = {}): JsonObject {
  return modernRequest(id, 'tools/call', { name: 'hold', arguments: {}, ...more });
}

/** The POST of a message with the proper headers; undefined removes a header. */
export function modernPost(
  message: JsonObject,
  headers: Readonly<Record<string, string | undefined>> = {},
): RequestOptions {
  const { method, params } = message as { method?: string; params?: { name?: string; uri?: string } };
  const name = method === 'resources/read' ? params?.uri : params?.name;
  return {
    method: 'POST',
    path: '/mcp',
    body: JSON.stringify(message),
    headers: {
      ...JSON_HEADERS,
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': method,
      'mcp-name': name,
      ...headers,
    },
  };
}
