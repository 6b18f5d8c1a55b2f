import { onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import type { Gateway } from '../../gateway/index.ts';
import type { ServerIdentity } from '../legacy.ts';
import { openModernHome, type OpenHome } from '../modern-home.ts';

export interface ModernSeats extends Pick<OpenHome, 'open' | 'waiting'> {
  /** How many requests the core has taken, and how many of those are over. */
  readonly count: { opened: number; left: number };
}

/** Seats for modern clients as the program gives them, counted. */
export async function modernSeats(gateway: Gateway, identity: ServerIdentity): Promise<ModernSeats> {
  const home = await openModernHome({ gateway, identity, log: silentLogger, messageBytes: 16 * 1024 * 1024 });
  onTestFinished(() => home.close());
  const count = { opened: 0, left: 0 };
  return {
    count,
    get waiting() {
      return home.waiting;
    },
    open(input, output) {
      count.opened++;
      const seat = home.open(input, output);
      return {
        failAll: () => seat.failAll(),
        leave: () => {
          count.left++;
          seat.leave();
        },
      };
    },
  };
}
