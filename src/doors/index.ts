export { connectClient } from './client.ts';
export type { HttpDoor, PageHandler } from './http/door.ts';
export type { AccessTokens } from './http/guard.ts';
export { loadModernEndpoint, openHttp } from './lazy.ts';
export type { ModernPrincipals } from './http/modern-posts.ts';
export type { ClientWorkspace } from './http/session.ts';
export type { ModernEndpoint } from './modern/endpoint.ts';
export type { ServerIdentity } from './server-identity.ts';
export { openStdioDoor, type StdioDoor } from './stdio.ts';
