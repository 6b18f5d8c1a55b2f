import { connect, type Socket } from 'node:net';
import { SwitchboardError } from '../../../shared/errors.ts';
import { asLoopback, connectHost } from '../../records/config/loopback.ts';

/**
 * Connects to a port of this machine. Many development servers listen on only one of the two loopback addresses, so the
 * configured one is tried first, then the other. Half-closed connections stay open.
 */
export async function dial(host: string, port: number): Promise<Socket> {
  const loopback = asLoopback(host);
  if (loopback === undefined) {
    throw new SwitchboardError('NOT_LOOPBACK', `Refused to connect to ${host}: it is not a loopback host.`);
  }
  const first = connectHost(loopback);
  try {
    return await dialAddress(first, port);
  } catch (error) {
    // The error for the configured address is the better explanation.
    return dialAddress(first === '::1' ? '127.0.0.1' : '::1', port).catch(() => {
      throw error;
    });
  }
}

function dialAddress(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
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
