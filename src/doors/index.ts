export { openStreamClient } from './stream-client.ts';
export { openHttp, type HttpDoor, type ClientConnection } from './http.ts';
export { openModernEndpoint, type ModernEndpoint } from './modern-endpoint.ts';
export type { ServerIdentity } from './legacy-client.ts';
export { openStdioDoor, type StdioDoor } from './stdio.ts';
