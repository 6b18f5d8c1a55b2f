import { shellWord } from '../../shared/shell-word.ts';
import { createServer, type Server, type Socket } from 'node:net';
import { dial } from '../sockets/dial.ts';
import { join } from '../sockets/join.ts';
import type { Mapping } from './mapping.ts';
import { refuse } from './refused.ts';

/** An open canonical port. */
export interface Gate {
  readonly addresses: readonly string[];
  readonly mapping: Mapping;
  /** Connections that are open now. */
  readonly connections: number;
  /** From now on new connections go there. Those that are open stay where they are; their number is returned. */
  lead(mapping: Mapping): number;
  /** Ends the port and every connection through it; resolves when the port is free. */
  close(): Promise<void>;
}

/** Connections the kernel keeps for us while we are busy; the system's own limit may be lower. */
const BACKLOG = 4096;

/** Takes the port on both loopback addresses, or on none. Rejects with the error of the address that was refused. */
export async function openGate(first: Mapping, onTrouble: (text: string) => void): Promise<Gate> {
  let mapping = first;
  const port = first.listen_port;
  const clients = new Map<Socket, Mapping>();

  const accept = (client: Socket): void => {
    const { target_host, target_port, service, branch } = mapping;
    clients.set(client, mapping);
    client.on('close', () => clients.delete(client));
    // Until it is joined, a client that goes away is only gone.
    client.on('error', () => undefined);
    dial(target_host, target_port).then(
      (backend) => {
        if (client.destroyed) {
          backend.destroy();
          return;
        }
        join(client, backend);
      },
      () =>
        refuse(
          client,
          `${service} of ${branch} does not answer on ${target_host}:${target_port}. Run: sy status --branch ${shellWord(branch)}`,
        ),
    );
  };

  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    for (const client of clients.keys()) client.destroy();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  };
  const addresses: string[] = [];
  for (const host of ['127.0.0.1', '::1']) {
    try {
      servers.push(await listen(host, port, accept, onTrouble));
      addresses.push(host);
    } catch (error) {
      if (host === '::1' && isMissing(error)) continue;
      await close();
      throw error;
    }
  }

  return {
    addresses,
    close,
    get mapping() {
      return mapping;
    },
    get connections() {
      return clients.size;
    },
    lead(next) {
      mapping = next;
      return [...clients.values()].filter((taken) => taken.target_port !== next.target_port).length;
    },
  };
}

function listen(
  host: string,
  port: number,
  accept: (client: Socket) => void,
  onTrouble: (text: string) => void,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, accept);
    server.once('error', reject);
    server.listen({ host, port, backlog: BACKLOG, ipv6Only: host === '::1' }, () => {
      server.off('error', reject);
      // Too many open files, for example: the port stays open, and the next connection may do better.
      server.on('error', (error) => onTrouble(`${host}:${port} could not accept: ${error.message}`));
      resolve(server);
    });
  });
}

/** This machine has no IPv6. */
function isMissing(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '');
}
