import type { UnusableServer } from '../config/index.ts';

/** A server that cannot be used, for scripts. */
export function unusableData({ name, reason, nextStep, origin }: UnusableServer): object {
  return { name, reason, nextStep, source: origin };
}
