export { composeEnv, envNames } from './environment.ts';
export { CONFIG_NAMES, findConfig } from './find.ts';
export { loadConfig, type LoadedConfig } from './load.ts';
export { describeWarning } from './problem.ts';
export type { ServerDefinition } from './resolve.ts';
