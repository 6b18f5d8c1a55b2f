import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../shared/log.ts';
import type { Gateway } from '../gateway/index.ts';
import { CLIENT_SHAPE } from '../protocol/index.ts';
import { faultError, Peer, StreamTransport } from '../wire/index.ts';
import { EraDetectingClient } from './era-detect.ts';
import type { ServerIdentity } from './legacy-client.ts';
import { SerialClient } from './serial-client.ts';

export interface StreamClientOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly input: Readable;
  readonly output: Writable;
  readonly log: Logger;
  /** The largest message taken, in bytes. */
  readonly messageBytes: number;
  /** The output is a pipe, socket or file, which does not keep a reference to written buffers. */
  readonly takesCopies: boolean;
  /** Whether requests are answered one after another, in the order they came, unless one takes long. Default false. */
  readonly inOrder?: boolean;
  /** The client's input has ended. */
  readonly ended: (why: 'end' | 'overrun') => void;
}

export interface StreamClient {
  readonly client: EraDetectingClient | SerialClient;
  readonly peer: Peer;
  readonly transport: StreamTransport;
}

/** Connects one client over a pair of byte streams to the gateway. */
export function openStreamClient(options: StreamClientOptions): StreamClient {
  const {
    gateway,
    identity,
    input,
    output,
    log,
    messageBytes,
    takesCopies,
    inOrder = false,
    ended,
  } = options;
  let dropped = 0;
  const transport = new StreamTransport(input, output, { shape: CLIENT_SHAPE, messageBytes, takesCopies });
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
  return { client, peer, transport };
}
