import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../shared/log.ts';
import type { Gateway } from '../gateway/index.ts';
import { CLIENT_SHAPE } from '../protocol/index.ts';
import { Peer, refusalError } from '../wire/index.ts';
import { DualClient } from './dual.ts';
import type { ServerIdentity } from './legacy.ts';

export interface ConversationOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly input: Readable;
  readonly output: Writable;
  readonly log: Logger;
  /** The largest message taken, in bytes. */
  readonly messageBytes: number;
  /** The output is a pipe, socket or file, which keeps no hold of what it has taken. */
  readonly takesCopies: boolean;
  /** The client will say no more. */
  readonly ended: (why: 'end' | 'overrun') => void;
}

export interface Conversation {
  readonly client: DualClient;
  readonly peer: Peer;
}

/** The conversation with one client over a pair of byte streams, whatever carries them. */
export function openConversation(options: ConversationOptions): Conversation {
  const { gateway, identity, input, output, log, messageBytes, takesCopies, ended } = options;
  let dropped = 0;
  const peer: Peer = new Peer(
    input,
    output,
    {
      request: (message) => {
        client.request(message);
        // A client that asks without reading the answers is not listened to until it does.
        if (!peer.outbox.congested) return;
        peer.pause();
        peer.outbox.whenDrained(() => peer.resume());
      },
      notification: (message) => client.notification(message),
      refused: (refusal, id) => {
        const { code, message } = refusalError(refusal);
        // Where the text is no JSON at all, an id found in it means nothing.
        peer.fail(refusal === 'malformed' ? undefined : id, code, message);
      },
      dropped: (why) => {
        dropped++;
        if (dropped === 1 || dropped % 1000 === 0)
          log.debug('dropped a message of the host', { why, count: dropped });
      },
      ended,
    },
    { shape: CLIENT_SHAPE, messageBytes, takesCopies },
  );
  const client = new DualClient(peer, gateway, identity, log);
  return { client, peer };
}
