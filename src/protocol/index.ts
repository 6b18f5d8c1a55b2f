export { isJsonObject, type JsonObject } from './json.ts';
export { isRoutedMethod } from './methods.ts';
export { Client, CLIENT_SHAPE, Server, SERVER_SHAPE } from './shapes.ts';
export { isLegacyVersion, LATEST_LEGACY_VERSION } from './versions.ts';
