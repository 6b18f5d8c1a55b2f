import { uptime } from 'node:os';
import { processStatus } from '../../../process/index.ts';
import type { YardContext } from '../../records/project/context.ts';
import { allocatePorts } from '../ports/allocate.ts';
import { releaseLease, type Lease } from '../ports/lease.ts';
import { takenPorts } from '../ports/reserved-ports.ts';
import { newCookie } from '../processes/cookie.ts';
import { serviceProcesses } from '../processes/observe.ts';

/** What a start has before its process: a port, and the cookie that all its processes will carry. */
export interface Reservation {
  readonly port: number;
  readonly cookie: string;
}

/** Reserves a port for each of these services of the project, by key. Call it under the lock of the project. */
export async function reserve(
  context: YardContext,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Reservation>> {
  const { home, registry, config } = context;
  const state = registry.read();
  const records = state.projects[config.root]?.services ?? {};
  const wishes = keys.map((key) => ({ key, cookie: newCookie(home), before: records[key]?.port }));
  const ports = await allocatePorts(wishes, {
    home,
    root: config.root,
    range: config.ports,
    avoid: takenPorts(state, config, new Set(keys)),
    isAbandoned: (lease) => isAbandoned(context, lease),
  });
  return new Map(
    wishes.flatMap(({ key, cookie }) => {
      const port = ports.get(key);
      return port === undefined ? [] : [[key, { cookie, port }] as const];
    }),
  );
}

/** Releases a reservation that was not needed. */
export function releaseReservation({ home }: YardContext, { port, cookie }: Reservation): void {
  releaseLease(home, port, cookie);
}

/** Reads the records and processes again: another command may have run since our last read. */
function isAbandoned({ registry }: YardContext, lease: Lease): boolean {
  const { root, key, cookie } = lease;
  if (mayBeHeld(lease)) return false;
  if (registry.read().projects[root]?.services[key]?.cookie === cookie) return false;
  return !serviceProcesses().look().carriers().has(cookie);
}

/**
 * Whether the holder may still run. It is unknown for a command in another container; a command from before the last
 * boot has ended.
 */
function mayBeHeld({ holder, at }: Lease): boolean {
  const status = processStatus(holder);
  return status === 'alive' || (status === 'unknown' && at > Date.now() - uptime() * 1000);
}
