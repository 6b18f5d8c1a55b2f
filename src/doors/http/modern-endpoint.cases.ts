import { onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import type { Gateway } from '../../gateway/index.ts';
import type { ServerIdentity } from '../server-identity.ts';
import { ModernEndpoint } from '../modern/endpoint.ts';
import type { ModernPrincipals, ModernRequestHandler } from './modern-posts.ts';

export interface CountedEndpoint extends ModernRequestHandler, ModernPrincipals {
  /** How many requests have run, and how many of their exchanges have ended. */
  readonly count: { opened: number; left: number };
  readonly suspended: number;
}

/** The endpoint for all modern clients, opened the way the program does, with counts. */
export function countedEndpoint(gateway: Gateway, identity: ServerIdentity): CountedEndpoint {
  const endpoint = new ModernEndpoint({ gateway, identity, log: silentLogger });
  onTestFinished(() => endpoint.close());
  const count = { opened: 0, left: 0 };
  const counted: CountedEndpoint = {
    count,
    get suspended() {
      return endpoint.suspended.size;
    },
    refusal: (message, method) => endpoint.refusal(message, method),
    run(message, channel, method) {
      count.opened++;
      return endpoint.run(message, channel, method);
    },
    cancel(attempt, reason) {
      count.left++;
      endpoint.cancel(attempt, reason);
    },
    idle: () => endpoint.idle(),
    failAll: () => endpoint.failAll(),
    endpointOf: () => counted,
    endThose: () => undefined,
  };
  return counted;
}
