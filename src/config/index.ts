export { compareServers, reachedBy } from './compare.ts';
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
export { withServerOff, withServerOn } from './edit-disabled.ts';
export { withLanguage, withoutLanguage } from './edit-language.ts';
export { editConfig, type EditConfigOptions, type EditedConfig } from './edit-config.ts';
export { composeEnv, envNames } from './environment.ts';
export type { Face } from './face.ts';
export { CONFIG_NAMES, configFileFor, type ConfigScope } from './find.ts';
export { interpolate, whyNotFilled } from './interpolate.ts';
export { httpTokenOf, refuseWeakToken } from './http-token.ts';
export { loadConfig, type LoadedConfig, type NotAllowed } from './load.ts';
export { inOrder } from './resolve.ts';
export { allowedFiles, allowFiles, approvalRecordFile, asOwner, denyFiles } from './project-approval.ts';
export { concernsWrapped, loadWrapped } from './load-wrapped.ts';
export { describeWarning } from './problem.ts';
export { refuseBroken } from './read.ts';
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
export { whereLooked } from './where-looked.ts';
export type { Settings } from './settings.ts';
export { shownAddress } from './shown-address.ts';
export type { Origin, Pattern, ToolSettings } from './tool-settings.ts';
