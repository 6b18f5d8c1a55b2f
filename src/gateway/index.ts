export { askUser, canAskUser, type UserAnswer } from './ask-user.ts';
export type { Call, CallFollower, Runner } from './call.ts';
export type { Catalog, CatalogEntry, Naming } from './catalog.ts';
export { Component, EMPTY_LISTING, type Listing } from './component.ts';
export { labelWithServer } from './component-names.ts';
export { dropOldest } from './drop-oldest.ts';
export type { Exposure, OverallExposure, PresentedTool, FilteredEntry } from './exposure.ts';
export type { RemovalReason } from './removed-tools.ts';
export { Gateway, type GatewayOptions, type GatewayWatcher, type WatchedGateway } from './gateway.ts';
export type { Snapshot } from './snapshot.ts';
export { combineInstructions, printableInstructions } from './instructions.ts';
export { LocalClient, type LocalCallOptions } from './local-client.ts';
export {
  originalName,
  presetsFor,
  filterTools,
  overriddenTool,
  withPresets,
  type OfferedTool,
  type FilteredTools,
  type ToolRules,
} from './tool-filter.ts';
export { Session, type ClientDescription, type ClientLink } from './session.ts';
export type { ResultLimits, ResultReader, Results } from './results.ts';
export { RunningCalls, type ParsedRequest } from './running-calls.ts';
export { ServerError, serverError } from './server-error.ts';
export { NestedClient } from './nested-client.ts';
export { WaitingClient, type PendingAnswer } from './waiting-client.ts';
export { perCallSource } from './per-call-source.ts';
export { SharedSource, type SharedSourceRole } from './shared-source.ts';
export { StartLimiter, type LimitedStart } from './start-limiter.ts';
export type {
  CloseOptions,
  ServerRequest,
  Source,
  SourceInfo,
  SourceListener,
  SourceState,
} from './source.ts';
export { namespaceOf, prefixedToolName } from './valid-tool-name.ts';
export { wireAnswer } from './wire-errors.ts';
