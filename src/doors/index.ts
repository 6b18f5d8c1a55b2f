export { connectClient } from './client.ts';
export {
  openHttp,
  openModernEndpoint,
  type HttpDoor,
  type ClientWorkspace,
  type ModernEndpoint,
} from './http.ts';
export type { ServerIdentity } from './server-identity.ts';
export { openStdioDoor, type StdioDoor } from './stdio.ts';
