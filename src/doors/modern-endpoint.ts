import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../shared/log.ts';
import type { Gateway } from '../gateway/index.ts';
import { CLIENT_SHAPE } from '../protocol/index.ts';
import { faultError, Peer, StreamTransport } from '../wire/index.ts';
import type { RequestConnection } from './http.ts';
import type { ServerIdentity } from './legacy-client.ts';

export interface ModernEndpointOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /** The largest message taken, in bytes. */
  readonly messageBytes: number;
}

/** The endpoint for all requests of clients without sessions. */
export interface ModernEndpoint {
  /** Takes one request, over a pair of streams of its own. */
  readonly open: (input: Readable, output: Writable) => RequestConnection;
  /** How many calls wait for their client to return with input. */
  readonly suspended: number;
  close(): void;
}

/** Opens the endpoint for the clients of an HTTP door that have no sessions. */
export async function openModernEndpoint({
  gateway,
  identity,
  log,
  messageBytes,
}: ModernEndpointOptions): Promise<ModernEndpoint> {
  const [{ ModernClient }, { StatelessClients }] = await Promise.all([
    import('./modern/client.ts'),
    import('./modern/stateless-clients.ts'),
  ]);
  const clients = new StatelessClients({ gateway, identity, log });
  return {
    open: (input, output) => {
      const options = { shape: CLIENT_SHAPE, messageBytes };
      const transport = new StreamTransport(input, output, options);
      const peer: Peer = new Peer(transport, CLIENT_SHAPE, {
        request: (message) => client.request(message),
        notification: (message) => client.notification(message),
        refused: (refusal, id) => {
          const { code, message } = faultError(refusal);
          peer.fail(id, code, message);
        },
        dropped: (why) => log.debug('dropped a message from a client', { why }),
        ended: () => undefined,
      });
      const client = new ModernClient(peer, clients);
      return {
        failAll: () => {
          client.failAll();
          transport.flush();
        },
        leave: () => {
          client.leave();
          peer.close();
        },
      };
    },
    get suspended() {
      return clients.suspended.size;
    },
    close: () => clients.close(),
  };
}
