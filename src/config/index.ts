export { CONFIG_NAMES, findConfig, type FoundConfig } from './find.ts';
export { composeEnv, envNames, type EnvironmentDefinition } from './environment.ts';
export { loadConfig, type LoadConfigOptions, type LoadedConfig } from './load.ts';
export { describeWarning, type ConfigWarning } from './problem.ts';
export type { ServerDefinition, SuiteDefinition } from './resolve.ts';
export type { Settings } from './settings.ts';
