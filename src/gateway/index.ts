export type { Call, Runner } from './call.ts';
export type { CatalogEntry, Naming } from './catalog.ts';
export { Component, EMPTY_LISTING, type Listing } from './component.ts';
export { labelWithServer } from './component-names.ts';
export type { Exposure, OverallExposure, PresentedTool, FilteredEntry } from './exposure.ts';
export type { RemovalReason } from './removed-tools.ts';
export { Gateway } from './gateway.ts';
export { combineInstructions, printableInstructions } from './instructions.ts';
export { LocalClient, ServerError, serverError, type LocalCallOptions } from './local-client.ts';
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
export { Session, type ClientLink } from './session.ts';
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
