import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { dial } from '../sockets/dial.ts';
import { join } from '../sockets/join.ts';
import type { ServiceRecord } from '../state/records.ts';
import { pairs, without, withOrigin } from './headers.ts';

export interface ProxiedUpgrade {
  readonly request: IncomingMessage;
  readonly client: Socket;
  /** What came with the head of the request. */
  readonly head: Buffer;
  readonly route: ServiceRecord;
  /** As the client wrote it. */
  readonly host: string;
  readonly target: string;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Passes a request that asks for another protocol, such as WebSocket: the head with our headers, and from there on the
 * two connections are one. What the service answers, agreed or not, reaches the client as it is.
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

/** The service would keep HTTP/2 from us for the next requests as well, and those have to go through us. */
function wanted(request: IncomingMessage): string[] {
  if (request.headers.upgrade?.toLowerCase().includes('h2c') !== true) return request.rawHeaders;
  const dropped = new Set(['connection', 'upgrade', 'http2-settings', 'keep-alive']);
  return [...without(request.rawHeaders, dropped), 'Connection', 'close'];
}

function headOf(request: IncomingMessage, headers: readonly string[], target: string): string {
  const lines = pairs(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${request.method ?? 'GET'} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
