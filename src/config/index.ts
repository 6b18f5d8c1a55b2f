export type { CompoundDefinition } from './compound.ts';
export { composeEnv, envNames } from './environment.ts';
export type { Face } from './face.ts';
export { CONFIG_NAMES, findConfig } from './find.ts';
export { loadConfig, type LoadedConfig } from './load.ts';
export { describeWarning } from './problem.ts';
export type { ServerDefinition } from './resolve.ts';
export type { Pattern, ToolSettings, ToolShape } from './tool-settings.ts';
