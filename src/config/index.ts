export { findConfig } from './find.ts';
export { composeEnv, envNames } from './environment.ts';
export { loadConfig, type LoadedConfig } from './load.ts';
export { describeWarning, type ConfigWarning } from './problem.ts';
export type { ServerDefinition, SuiteDefinition } from './resolve.ts';
export type { Settings } from './settings.ts';
