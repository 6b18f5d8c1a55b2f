import type { HttpDoor, HttpDoorOptions } from './http/door.ts';
import type { ModernEndpoint, ModernEndpointOptions } from './modern/endpoint.ts';

/** Opens the door for HTTP clients. Its code is loaded on demand: most hosts use stdio. */
export async function openHttp(options: HttpDoorOptions): Promise<HttpDoor> {
  const { openHttpDoor } = await import('./http/door.ts');
  return openHttpDoor(options);
}

/** Loads the function that opens an endpoint for the session-less clients of one principal. */
export async function loadModernEndpoint(): Promise<(options: ModernEndpointOptions) => ModernEndpoint> {
  const { ModernEndpoint } = await import('./modern/endpoint.ts');
  return (options) => new ModernEndpoint(options);
}
