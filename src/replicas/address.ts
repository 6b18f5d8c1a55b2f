import { networkInterfaces } from 'node:os';

/**
 * Where other replicas can reach a gateway that listens on this host. If it listens on all addresses: the machine's
 * first.
 */
export function replicaAddress(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? machineAddress() : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function machineAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80'));
  const found = outside.find(({ family }) => family === 'IPv4') ?? outside[0];
  return found?.address ?? '127.0.0.1';
}
