import { createServer, type AddressInfo } from 'node:net';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';

/**
 * Whether the port is free on all addresses that a connection to loopback may reach. A wildcard listener does not
 * always prevent a second one on a single address, nor vice versa, so all four are tried.
 */
export async function isPortFree(port: number): Promise<boolean> {
  // On Linux, a dual-stack socket can only be bound if no other socket listens on any address of the port.
  if (process.platform === 'linux' && (await canListen(port)) === true) return true;
  // One after the other, because the wildcards conflict with the rest and with each other.
  for (const host of ['127.0.0.1', '::1', '0.0.0.0', '::']) {
    if ((await canListen(port, host)) === false) return false;
  }
  return true;
}

/**
 * Undefined if the machine lacks the address family. Without a host it covers both families, and Node has no address to
 * parse, which would be the slowest part.
 */
function canListen(port: number, host?: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => {
      const code = nodeErrorCode(error);
      resolve(code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' ? undefined : false);
    });
    server.listen({ port, host, exclusive: true }, () => {
      const both = host !== undefined || (server.address() as AddressInfo).family === 'IPv6';
      // The port is free immediately; the later callback only reports the end of connections.
      server.close();
      resolve(both ? true : undefined);
    });
  });
}
