export { eraOfVersion, otherEra, type Era, type EraSupport } from './era.ts';
export type { JsonObject } from './json.ts';
export {
  CATALOG_KINDS,
  kindListedBy,
  LIST_KINDS,
  kindsChangedBy,
  type CatalogKind,
  type ListKind,
} from './list-kinds.ts';
export { canElicit, requiredCapability, isRoutedMethod, LOG_MESSAGE_LEVELS, severity } from './methods.ts';
export { isModernVersion, MAY_REQUIRE_INPUT, Meta, MODERN_VERSION, ModernCode } from './modern.ts';
export {
  Client,
  CLIENT_SHAPE,
  HandshakeAnswer,
  HANDSHAKE_SHAPE,
  LIST_SHAPE,
  ListPage,
  Server,
  SERVER_SHAPE,
} from './shapes.ts';
export { traceHeaders, type TraceHeaders } from './trace-headers.ts';
export { annotationsOf, combinedHints, toolHints, type ToolHints } from './tool-hints.ts';
export {
  BATCHING_VERSION,
  isLegacyVersion,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
  RESOURCE_NOT_FOUND,
} from './versions.ts';
