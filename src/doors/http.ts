import type { HttpDoor, HttpDoorOptions } from './http/door.ts';

export type { HttpDoor, RequestConnection, ClientConnection } from './http/door.ts';

/** Opens the door for HTTP clients. Its code is loaded on demand: most hosts use stdio. */
export async function openHttp(options: HttpDoorOptions): Promise<HttpDoor> {
  const { openHttpDoor } = await import('./http/door.ts');
  return openHttpDoor(options);
}
