import type { HttpDoor, HttpDoorOptions } from './http/door.ts';

export type { HttpDoor, RequestConnection, ClientConnection } from './http/door.ts';

/** Opens the door to clients that connect over HTTP. Its code is loaded only then: most hosts start us instead. */
export async function openHttp(options: HttpDoorOptions): Promise<HttpDoor> {
  const { openHttpDoor } = await import('./http/door.ts');
  return openHttpDoor(options);
}
