export { ServerManager, type AppliedChanges, type BuildOptions } from './server-manager.ts';
export { managementTools } from './tools.ts';
