import { connect } from 'node:net';
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

function accepts(port: number, host: LoopbackAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const finish = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    // On loopback, only an overloaded listener delays a connection.
    socket.setTimeout(CONNECT_TIMEOUT, () => finish(false));
  });
}
