import { createServer, type AddressInfo } from 'node:net';

/**
 * Whether nobody listens on the port, on any address that a connection to loopback may reach. A listener on the
 * wildcard does not always refuse a second one on a single address, nor the other way round; so all four are tried.
 */
export async function isPortFree(port: number): Promise<boolean> {
  // Where one socket serves both families, Linux lets nobody listen beside anybody on any address of the port.
  if (process.platform === 'linux' && (await canListen(port)) === true) return true;
  // One after the other: the wildcards collide with the rest, and with each other.
  for (const host of ['127.0.0.1', '::1', '0.0.0.0', '::']) {
    if ((await canListen(port, host)) === false) return false;
  }
  return true;
}

/**
 * Undefined on a machine that lacks the family: nobody listens there. Without a host both families are meant, and Node
 * has no address to take apart, which costs more than all the rest.
 */
function canListen(port: number, host?: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' ? undefined : false);
    });
    server.listen({ port, host, exclusive: true }, () => {
      const both = host !== undefined || (server.address() as AddressInfo).family === 'IPv6';
      // The port is free again at once; what is told later is only that nobody is connected.
      server.close();
      resolve(both ? true : undefined);
    });
  });
}
