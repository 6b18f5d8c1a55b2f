export type { Call, Runner } from './call.ts';
export type { CatalogEntry } from './catalog.ts';
export type { Exposure } from './exposure.ts';
export { Gateway } from './gateway.ts';
export { LocalClient, ServerError, type LocalCallOptions } from './local-client.ts';
export { Session, type ClientLink } from './session.ts';
export type { Component, Kind, Listing, Source, SourceInfo, SourceState } from './source.ts';
export { wireAnswer } from './wire-errors.ts';
