export { isJsonObject, type JsonObject } from './json.ts';
export { KEPT_KINDS, kindListedBy, KINDS, kindsChangedBy, type KeptKind, type Kind } from './kinds.ts';
export { canElicit, capabilityAsked, isRoutedMethod, LOG_MESSAGE_LEVELS, severity } from './methods.ts';
export { isModernVersion, MAY_ASK, Meta, MODERN_VERSION, ModernCode } from './modern.ts';
export { Client, CLIENT_SHAPE, Server, SERVER_SHAPE } from './shapes.ts';
export { BATCHING_VERSION, isLegacyVersion, LATEST_LEGACY_VERSION, LEGACY_VERSIONS } from './versions.ts';
