import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import type { Gateway } from '../../gateway/index.ts';
import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Peer, refusalError } from '../../wire/index.ts';
import type { ServerIdentity } from '../legacy.ts';
import { ModernClient } from '../modern/client.ts';
import { ModernHome, type ModernHomeOptions } from '../modern/home.ts';
import type { ModernSeat } from './modern-exchange.ts';

export interface ModernSeats {
  readonly home: ModernHome;
  /** How many requests the core has taken, and how many of those are over. */
  readonly count: { opened: number; left: number };
  open(input: Readable, output: Writable): ModernSeat;
}

/** Seats for modern clients as the program gives them: one home for all, a connection for each request. */
export function modernSeats(
  gateway: Gateway,
  identity: ServerIdentity,
  options: Partial<ModernHomeOptions> = {},
): ModernSeats {
  const home = new ModernHome({ gateway, identity, log: silentLogger, ...options });
  onTestFinished(() => home.close());
  const count = { opened: 0, left: 0 };
  return {
    home,
    count,
    open(input, output) {
      count.opened++;
      const peer: Peer = new Peer(
        input,
        output,
        {
          request: (message) => client.request(message),
          notification: (message) => client.notification(message),
          refused: (refusal, id) => {
            const { code, message } = refusalError(refusal);
            peer.fail(id, code, message);
          },
          dropped: () => undefined,
          ended: () => undefined,
        },
        { shape: CLIENT_SHAPE, takesCopies: false },
      );
      const client = new ModernClient(peer, home);
      return {
        failAll: () => {
          client.failAll();
          peer.outbox.flush();
        },
        leave: () => {
          count.left++;
          client.leave();
          peer.close();
        },
      };
    },
  };
}
