import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { dial } from '../../runtime/sockets/dial.ts';
import { openForwardedConnection, type ForwardedConnection } from './forwarded-connection.ts';
import { sameMapping, type Mapping } from './protocol.ts';
import { refuse } from './refuse.ts';

/** An open canonical port. */
export interface ForwardedPort {
  readonly addresses: readonly string[];
  readonly mapping: Mapping;
  /** Number of open connections. */
  readonly connections: number;
  /** Number of connections that still lead to a previous target. */
  readonly elsewhere: number;
  /** From now on new connections go there. Connections to the previous target end as soon as their pending response is complete. */
  retarget(mapping: Mapping): Promise<RetargetResult>;
  /** Closes the port and all its connections; resolves when the port is free. */
  close(): Promise<void>;
}

/** The connections to the previous target of a port. */
export interface RetargetResult {
  readonly ended: number;
  /** Still waiting for a response. */
  readonly finishing: number;
}

/** Connections that the kernel queues while we are busy; the system's own limit may be lower. */
const BACKLOG = 4096;

/** A client and its backend connection, once established. */
interface Connection {
  readonly client: Socket;
  forwarded?: ForwardedConnection;
  to: Mapping;
}

/** Opens the port on both loopback addresses, or on neither. Rejects with the error of the address that failed. */
export async function openForwardedPort(
  first: Mapping,
  onTrouble: (text: string) => void,
): Promise<ForwardedPort> {
  let mapping = first;
  const port = first.listen_port;
  const all = new Set<Connection>();
  const open = (): Connection[] => [...all].filter(({ forwarded }) => forwarded?.ended !== true);
  const elsewhere = (): Connection[] =>
    open().filter(({ forwarded, to }) => forwarded !== undefined && !sameMapping(to, mapping));

  const accept = (client: Socket): void => {
    const connection: Connection = { client, to: mapping };
    all.add(connection);
    client.on('close', () => all.delete(connection));
    // A client that disconnects before it is joined needs no handling.
    client.on('error', () => undefined);
    void forward(connection);
  };

  const forward = async (connection: Connection): Promise<void> => {
    const { client } = connection;
    const { target_host, target_port, service, branch } = (connection.to = mapping);
    const backend = await dial(target_host, target_port).catch(() => undefined);
    if (client.destroyed) backend?.destroy();
    else if (connection.to !== mapping) {
      // The port was switched in the meantime, and nothing from the client was read yet.
      backend?.destroy();
      await forward(connection);
    } else if (backend !== undefined) connection.forwarded = openForwardedConnection(client, backend);
    else
      refuse(
        client,
        `${service} of ${branch} does not respond on ${target_host}:${target_port}. Run: sy status --branch ${shellWord(branch)}`,
      );
  };

  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    for (const { client } of all) client.destroy();
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
      return open().length;
    },
    get elsewhere() {
      return elsewhere().length;
    },
    async retarget(next) {
      mapping = next;
      // Requests that have arrived by now are in flight: after two turns, all of them were read.
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
      const left = elsewhere();
      for (const connection of left) {
        connection.forwarded?.retire(() => {
          delete connection.forwarded;
          void forward(connection);
        });
      }
      const finishing = elsewhere().length;
      return { ended: left.length - finishing, finishing };
    },
  };
}

async function listen(
  host: string,
  port: number,
  accept: (client: Socket) => void,
  onTrouble: (text: string) => void,
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, accept);
  server.listen({ host, port, backlog: BACKLOG, ipv6Only: host === '::1' });
  await once(server, 'listening');
  // For example too many open files: the port stays open, and the next connection may succeed.
  server.on('error', (error) => onTrouble(`${host}:${port} could not accept: ${error.message}`));
  return server;
}

/** Whether the error means that this machine has no IPv6. */
function isMissing(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(nodeErrorCode(error) ?? '');
}
