import type { Logger } from '../shared/log.ts';
import type { Gateway } from '../gateway/index.ts';
import { CLIENT_SHAPE } from '../protocol/index.ts';
import { faultError, Peer, type MessageTransport } from '../wire/index.ts';
import { EraDetectingClient } from './era-detect.ts';
import type { ServerIdentity } from './server-identity.ts';
import { SerialClient } from './serial-client.ts';

export interface ClientOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /** Whether requests are answered one after another, in the order they came, unless one takes long. Default false. */
  readonly inOrder?: boolean;
}

/** One client, connected to the gateway. */
export interface ClientConnection {
  /** The number of running requests. */
  readonly running: number;
  /** Resolves when no request is running. */
  idle(): Promise<void>;
  /** Answers the running requests with an error. */
  failAll(): void;
  /** The client disconnected: its requests are cancelled. */
  leave(): void;
}

/** Connects one client to the gateway. `ended` is called when its transport has no more messages. */
export function connectClient(
  transport: MessageTransport,
  { gateway, identity, log, inOrder = false }: ClientOptions,
  ended: (why: 'end' | 'overrun') => void = () => undefined,
): ClientConnection {
  let dropped = 0;
  const peer: Peer = new Peer(transport, CLIENT_SHAPE, {
    request: (message) => {
      client.request(message);
      // A client that does not read its answers is not read either.
      if (!transport.congested || (client instanceof SerialClient && client.queues)) return;
      transport.pause();
      transport.whenDrained(() => transport.resume());
    },
    notification: (message) => client.notification(message),
    refused: (refusal, id) => {
      const { code, message } = faultError(refusal);
      // An id found in invalid JSON means nothing.
      const answer = (): void => peer.fail(refusal === 'malformed' ? undefined : id, code, message);
      if (client instanceof SerialClient) client.refuse(answer);
      else answer();
    },
    dropped: (why) => {
      dropped++;
      if (dropped === 1 || dropped % 1000 === 0)
        log.debug('dropped a message from the host', { why, count: dropped });
    },
    ended: (why) => {
      if (client instanceof SerialClient) client.ended();
      ended(why);
    },
  });
  const eraClient = new EraDetectingClient(peer, gateway, identity, log);
  const client = inOrder ? new SerialClient(eraClient, peer) : eraClient;
  return {
    get running() {
      return client.running;
    },
    idle: () => client.idle(),
    failAll: () => client.failAll(),
    leave: () => {
      client.leave();
      peer.close();
    },
  };
}
