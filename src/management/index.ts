export { askUser, canAskUser } from './ask-user.ts';
export { ServerManager, type AppliedChanges } from './server-manager.ts';
export { managementTools } from './tools.ts';
