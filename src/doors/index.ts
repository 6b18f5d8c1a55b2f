export { openConversation } from './conversation.ts';
export { openHttp, type HttpDoor, type Seat } from './http.ts';
export { openModernHome, type OpenHome } from './modern-home.ts';
export type { ServerIdentity } from './legacy.ts';
export { openStdioDoor, type StdioDoor } from './stdio.ts';
