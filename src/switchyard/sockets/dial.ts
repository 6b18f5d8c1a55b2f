import { connect, type Socket } from 'node:net';
import { SwitchboardError } from '../../shared/errors.ts';
import { asLoopback, connectHost } from '../config/loopback.ts';

/**
 * A connection to a port of this machine. Many development servers listen on one of the two loopback addresses only, and
 * which one differs: so the service's own is tried first, then the other. Half-closed connections stay open.
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
    // What the service's own address says is the better explanation of the two.
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
      // Where nobody listens, TCP can connect a port of the range for outgoing connections to itself.
      if (socket.localPort === port && socket.localAddress === socket.remoteAddress) {
        socket.destroy();
        reject(new Error(`connect ECONNREFUSED ${host}:${port}`));
      } else resolve(socket);
    });
  });
}
