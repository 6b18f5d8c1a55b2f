/** The version without a handshake: every request carries its version and capabilities. */
export const MODERN_VERSION = '2026-07-28';

export function isModernVersion(version: unknown): boolean {
  return version === MODERN_VERSION;
}

/** Members of `_meta` that the protocol itself defines, in the modern era. */
export const Meta = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

/** Error codes that the modern era has added. */
export const ModernCode = {
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** Requests that may be answered with `input_required`. */
export const MAY_REQUIRE_INPUT: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
]);
