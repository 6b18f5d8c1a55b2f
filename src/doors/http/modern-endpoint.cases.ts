import { onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import type { Gateway } from '../../gateway/index.ts';
import type { ServerIdentity } from '../legacy-client.ts';
import { openModernEndpoint, type ModernEndpoint } from '../modern-endpoint.ts';

export interface CountedEndpoint extends Pick<ModernEndpoint, 'open' | 'suspended'> {
  /** How many requests the core has taken, and how many of those are over. */
  readonly count: { opened: number; left: number };
}

/** Seats for modern clients as the program gives them, counted. */
export async function countedEndpoint(gateway: Gateway, identity: ServerIdentity): Promise<CountedEndpoint> {
  const endpoint = await openModernEndpoint({
    gateway,
    identity,
    log: silentLogger,
    messageBytes: 16 * 1024 * 1024,
  });
  onTestFinished(() => endpoint.close());
  const count = { opened: 0, left: 0 };
  return {
    count,
    get suspended() {
      return endpoint.suspended;
    },
    open(input, output) {
      count.opened++;
      const connection = endpoint.open(input, output);
      return {
        failAll: () => connection.failAll(),
        leave: () => {
          count.left++;
          connection.leave();
        },
      };
    },
  };
}
