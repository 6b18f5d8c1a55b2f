import type { HttpDoor, HttpDoorOptions } from './http/door.ts';
import type { ModernEndpoint, ModernEndpointOptions } from './modern/endpoint.ts';

export { connectClient } from './client.ts';
export type { HttpDoor } from './http/door.ts';
export type { ClientWorkspace } from './http/session.ts';
export type { ModernEndpoint } from './modern/endpoint.ts';
export type { ServerIdentity } from './server-identity.ts';
export { openStdioDoor, type StdioDoor } from './stdio.ts';

/** Opens the door for HTTP clients. Its code is loaded on demand: most hosts use stdio. */
export async function openHttp(options: HttpDoorOptions): Promise<HttpDoor> {
  const { openHttpDoor } = await import('./http/door.ts');
  return openHttpDoor(options);
}

/** Opens the endpoint for all clients of an HTTP door that have no sessions. */
export async function openModernEndpoint(options: ModernEndpointOptions): Promise<ModernEndpoint> {
  const { ModernEndpoint } = await import('./modern/endpoint.ts');
  return new ModernEndpoint(options);
}
