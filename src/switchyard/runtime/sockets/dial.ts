import type { Socket } from 'node:net';
import { SwitchboardError } from '../../../shared/errors.ts';
import { asLoopback } from '../../records/config/loopback.ts';
import { addressesOf, dialAddress } from './loopback-address.ts';

/**
 * Connects to a port of this machine. Many development servers listen on only one of the two loopback addresses, so the
 * configured one is tried first, then the other. Half-closed connections stay open.
 */
export async function dial(host: string, port: number): Promise<Socket> {
  const loopback = asLoopback(host);
  if (loopback === undefined) {
    throw new SwitchboardError('NOT_LOOPBACK', `Refused to connect to ${host}: it is not a loopback host.`);
  }
  const [first, second] = addressesOf(loopback);
  try {
    return await dialAddress(first, port);
  } catch (error) {
    // The error for the configured address is the better explanation.
    return dialAddress(second, port).catch(() => {
      throw error;
    });
  }
}
