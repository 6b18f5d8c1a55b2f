import type { LoopbackHost } from '../../records/config/definition.ts';
import { asLoopback } from '../../records/config/loopback.ts';
import { urlOf } from '../../records/names.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { addressesOf, firstToAccept } from '../sockets/loopback-address.ts';

/** A service of the same branch that runs or is being started, as its peers need to know it. */
export interface PeerService {
  readonly service: string;
  /** Where to connect. Not the proxy: few programs except browsers resolve names below localhost. */
  readonly host: LoopbackHost;
  readonly port: number;
  /** Its address behind the proxy, for browsers. */
  readonly publicUrl: string;
}

/** A running service. It may listen on another loopback address than configured; many dev servers choose `::1`. */
export async function runningPeer(record: ServiceRecord): Promise<PeerService> {
  const { service, port, url } = record;
  const host = asLoopback(record.backend_host) ?? '127.0.0.1';
  return { service, port, publicUrl: url, host: (await firstToAccept(port, addressesOf(host))) ?? host };
}

/** The facts that peers get: service name, name of the fact, value. */
export function peerFacts(peers: readonly PeerService[]): readonly (readonly [string, string, string])[] {
  return [
    // First, so that a service called "api-public" keeps its own address.
    ...peers.map(({ service, publicUrl }) => [service, 'public_url', publicUrl] as const),
    ...peers.flatMap(({ service, host, port }) => [
      [service, 'url', urlOf(host, port)] as const,
      [service, 'host', host] as const,
      [service, 'port', String(port)] as const,
    ]),
  ];
}
