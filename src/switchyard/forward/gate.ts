import { shellWord } from '../../shared/shell-word.ts';
import { createServer, type Server, type Socket } from 'node:net';
import { dial } from '../sockets/dial.ts';
import { sameMapping, type Mapping } from './mapping.ts';
import { openPassage, type Passage } from './passage.ts';
import { refuse } from './refused.ts';

/** An open canonical port. */
export interface Gate {
  readonly addresses: readonly string[];
  readonly mapping: Mapping;
  /** Connections that are open now. */
  readonly connections: number;
  /** Those among them that do not lead where the port does now. */
  readonly elsewhere: number;
  /** From now on new connections go there. Those to where it led before end as soon as they have their answer. */
  lead(mapping: Mapping): Promise<Left>;
  /** Ends the port and every connection through it; resolves when the port is free. */
  close(): Promise<void>;
}

/** What became of the connections to where a port led before. */
export interface Left {
  readonly ended: number;
  /** These wait for an answer. */
  readonly finishing: number;
}

/** Connections the kernel keeps for us while we are busy; the system's own limit may be lower. */
const BACKLOG = 4096;

/** A client, and what it is connected to once it is. */
interface Visit {
  readonly client: Socket;
  passage?: Passage;
  to: Mapping;
}

/** Takes the port on both loopback addresses, or on none. Rejects with the error of the address that was refused. */
export async function openGate(first: Mapping, onTrouble: (text: string) => void): Promise<Gate> {
  let mapping = first;
  const port = first.listen_port;
  const visits = new Set<Visit>();
  const open = (): Visit[] => [...visits].filter(({ passage }) => passage?.ended !== true);
  const elsewhere = (): Visit[] =>
    open().filter(({ passage, to }) => passage !== undefined && !sameMapping(to, mapping));

  const accept = (client: Socket): void => {
    const visit: Visit = { client, to: mapping };
    visits.add(visit);
    client.on('close', () => visits.delete(visit));
    // Until it is joined, a client that goes away is only gone.
    client.on('error', () => undefined);
    void lead(visit);
  };

  const lead = async (visit: Visit): Promise<void> => {
    const { client } = visit;
    const { target_host, target_port, service, branch } = (visit.to = mapping);
    const backend = await dial(target_host, target_port).catch(() => undefined);
    if (client.destroyed) backend?.destroy();
    else if (visit.to !== mapping) {
      // The port was switched meanwhile, and nothing of the client was read yet.
      backend?.destroy();
      await lead(visit);
    } else if (backend !== undefined) visit.passage = openPassage(client, backend);
    else
      refuse(
        client,
        `${service} of ${branch} does not answer on ${target_host}:${target_port}. Run: sy status --branch ${shellWord(branch)}`,
      );
  };

  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    for (const { client } of visits) client.destroy();
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
    async lead(next) {
      mapping = next;
      // Requests that have arrived by now are in flight: the second turn begins after all of them were read.
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
      const left = elsewhere();
      for (const visit of left) {
        visit.passage?.leave(() => {
          delete visit.passage;
          void lead(visit);
        });
      }
      const finishing = elsewhere().length;
      return { ended: left.length - finishing, finishing };
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
