export type { ToolApproval } from './approval.ts';
export { compareServers, connectionSettings } from './compare.ts';
export type { CompoundDefinition } from './compound.ts';
export { MANAGEMENT_TOOLS } from './defaults.ts';
export type {
  BuiltinDefinition,
  ConfiguredServer,
  LanguageDefinition,
  RemoteDefinition,
  ServerDefinition,
  StdioDefinition,
  UnusableServer,
} from './definition.ts';
export { entryForConfig, withoutServer, withServer } from './edit.ts';
export { withServerDisabled, withServerEnabled } from './edit.ts';
export { withLanguage, withoutLanguage } from './edit.ts';
export { editConfig, type EditConfigOptions, type EditedConfig } from './edit-config.ts';
export { composeEnv, envNames } from './environment.ts';
export type { ProgramVariant } from './program-variant.ts';
export { CONFIG_NAMES, locateConfig, type ConfigScope } from './find.ts';
export { interpolate, interpolationProblem } from './interpolate.ts';
export { httpTokenOf, refuseWeakToken } from './http-token.ts';
export { describeCommand, describeVariables } from './describe-launch.ts';
export { loadConfig, secretsFor, type LoadedConfig, type NotAllowed } from './load.ts';
export { inConfigOrder } from './resolve.ts';
export { allowedFiles, allowFiles, approvalRecordFile, keepApproval, denyFiles } from './project-approval.ts';
export { concernsWrapped, loadWrapped } from './load-wrapped.ts';
export { describeWarning } from './problem.ts';
export { refuseBroken, type HookModule } from './read.ts';
export { commandText, redactCommand, type RedactedCommand } from './redact-command.ts';
export { recursionGuard } from './recursion.ts';
export { remoteSecrets } from './remote-secrets.ts';
export { defineRemoteServer, type RemoteEntry } from './remote-server.ts';
export {
  defineRuntimeServer,
  isRuntimeServer,
  refuseBadName,
  type RuntimeContext,
  type RuntimeEntry,
} from './runtime-server.ts';
export { resultSettings, type ResultSettings } from './result-settings.ts';
export { ownSchema } from './schema-copy.ts';
export { searchReport } from './search-report.ts';
export type { RoleLimits, Roles } from './access.ts';
export type { Settings } from './settings.ts';
export { storePlaceOf, storeUrlOf } from './store-url.ts';
export { redactUrl } from './redact-url.ts';
export type { Origin, Pattern, ToolSettings } from './tool-settings.ts';
