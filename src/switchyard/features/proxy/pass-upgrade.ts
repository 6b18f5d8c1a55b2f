import type { ProxiedRequest } from './pass-request.ts';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { dial } from '../../runtime/sockets/dial.ts';
import { join } from '../../runtime/sockets/join.ts';
import { pairs, without, withOrigin } from './headers.ts';

export interface ProxiedUpgrade extends Omit<ProxiedRequest, 'response' | 'agents'> {
  readonly client: Socket;
  /** Bytes that arrived with the head of the request. */
  readonly head: Buffer;
}

/**
 * Forwards an upgrade request, for example to WebSocket: sends the head with our headers, then joins the two
 * connections. The response of the service, accepted or not, reaches the client unchanged.
 */
export function passUpgrade({ request, client, head, route, host, target, onFailure }: ProxiedUpgrade): void {
  const opening = Buffer.from(headOf(request, withOrigin(wanted(request), route, host), target), 'latin1');
  dial(route.backend_host, route.port).then((backend) => {
    if (client.destroyed) {
      backend.destroy();
      return;
    }
    backend.write(Buffer.concat([opening, head]));
    join(client, backend);
  }, onFailure);
}

/** Removes HTTP/2: the service would then use it for later requests too, which must go through us. */
function wanted(request: IncomingMessage): string[] {
  if (request.headers.upgrade?.toLowerCase().includes('h2c') !== true) return request.rawHeaders;
  const dropped = new Set(['connection', 'upgrade', 'http2-settings', 'keep-alive']);
  return [...without(request.rawHeaders, dropped), 'Connection', 'close'];
}

function headOf(request: IncomingMessage, headers: readonly string[], target: string): string {
  const lines = pairs(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request.method ?? 'GET'} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
