export { compareServers } from './compare.ts';
export type { CompoundDefinition } from './compound.ts';
export { MANAGEMENT_TOOLS } from './defaults.ts';
export { entryForConfig, withoutServer, withServer } from './edit.ts';
export { editConfig, type EditConfigOptions, type EditedConfig } from './edit-config.ts';
export { composeEnv, envNames } from './environment.ts';
export type { Face } from './face.ts';
export { CONFIG_NAMES, findConfig } from './find.ts';
export { loadConfig, type LoadedConfig } from './load.ts';

export { describeWarning } from './problem.ts';
export type { ServerDefinition } from './resolve.ts';
export {
  defineRuntimeServer,
  isRuntimeServer,
  type RuntimeContext,
  type RuntimeEntry,
} from './runtime-server.ts';
export type { Settings } from './settings.ts';
export type { Pattern, ToolSettings } from './tool-settings.ts';
