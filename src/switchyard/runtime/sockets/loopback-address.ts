import { connect, type Socket } from 'node:net';
import type { LoopbackHost } from '../../records/config/definition.ts';
import { connectHost } from '../../records/config/loopback.ts';

export type LoopbackAddress = ReturnType<typeof connectHost>;

/** In milliseconds. */
const CONNECT_TIMEOUT = 500;

/** Both loopback addresses, the configured one first. */
export function addressesOf(host: LoopbackHost): readonly [LoopbackAddress, LoopbackAddress] {
  return connectHost(host) === '::1' ? ['::1', '127.0.0.1'] : ['127.0.0.1', '::1'];
}

/** The first of these addresses that accepts a connection. */
export async function firstToAccept(
  port: number,
  addresses: readonly LoopbackAddress[],
): Promise<LoopbackAddress | undefined> {
  for (const address of addresses) if (await accepts(port, address)) return address;
  return undefined;
}

async function accepts(port: number, host: LoopbackAddress): Promise<boolean> {
  try {
    // On loopback, only an overloaded listener delays a connection.
    (await dialAddress(host, port, AbortSignal.timeout(CONNECT_TIMEOUT))).destroy();
    return true;
  } catch {
    return false;
  }
}

/** Connects to one address. The signal, if given, ends the connection, even an established one. */
export function dialAddress(host: LoopbackAddress, port: number, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, signal });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // Without a listener, TCP can connect an ephemeral port to itself.
      if (socket.localPort === port && socket.localAddress === socket.remoteAddress) {
        socket.destroy();
        reject(new Error(`connect ECONNREFUSED ${host}:${port}`));
      } else resolve(socket);
    });
  });
}
