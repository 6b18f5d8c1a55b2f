export type { Call, Runner } from './call.ts';
export type { CatalogEntry, Naming } from './catalog.ts';
export { Component, EMPTY_LISTING, type Listing } from './component.ts';
export { label } from './directory.ts';
export type { Exposure, OverallExposure, PresentedTool, Shown } from './exposure.ts';
export type { Loss } from './departed.ts';
export { Gateway } from './gateway.ts';
export { combineInstructions, shownInstructions } from './instructions.ts';
export { LocalClient, ServerError, serverError, type LocalCallOptions } from './local-client.ts';
export {
  originalName,
  presetsFor,
  select,
  shapedTool,
  withPresets,
  type OfferedTool,
  type Selection,
  type ToolRules,
} from './selection.ts';
export { Session, type ClientLink } from './session.ts';
export { SharedSource } from './shared-source.ts';
export { StartGate, type Start } from './start-gate.ts';
export type { Ending, Question, Source, SourceInfo, SourceListener, SourceState } from './source.ts';
export { wireAnswer } from './wire-errors.ts';
