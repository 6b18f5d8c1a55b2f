import type { RecordedExit } from '../../../process/index.ts';
import { reachedByLocalhost } from '../ports/listeners.ts';
import { describeExit } from '../processes/exit.ts';
import type { ServiceHealthResult } from '../readiness/health.ts';
import type { ServiceSnapshot } from './snapshot.ts';

/**
 * - `healthy`: it listens on its port, and its health check succeeds.
 * - `ready`: it listens on its port, and has no health check.
 * - `running`: it runs and needs no port: `ready_timeout = 0`, or it is no longer in the file.
 * - `unhealthy`: it listens, but its health check fails or times out.
 * - `not-listening`: it runs, but does not listen on its port (yet).
 * - `wrong-port`: it runs, but listens on another port.
 * - `exited`: no process of it runs.
 * - `unverified`: a process may belong to it, but nothing proves that.
 */
export type ServiceState = (typeof SERVICE_STATES)[number];

export const SERVICE_STATES = [
  'healthy',
  'ready',
  'running',
  'unhealthy',
  'not-listening',
  'wrong-port',
  'exited',
  'unverified',
] as const;

export interface Verdict {
  readonly state: ServiceState;
  /** Details of the state, as part of a sentence about the service. */
  readonly note?: string;
}

/** Whether a service works as intended. */
export function isWell(state: ServiceState): boolean {
  return state === 'healthy' || state === 'ready' || state === 'running';
}

export interface Further {
  /** Whether it should listen on its port. */
  readonly needsPort: boolean;
  /** The result of its health check, if it was run. */
  readonly health?: ServiceHealthResult | undefined;
  /** How it ended, if that was recorded. */
  readonly exit?: RecordedExit | undefined;
}

export function stateOf(seen: ServiceSnapshot, { needsPort, health, exit }: Further): Verdict {
  const { record, status, pid } = seen;
  switch (status) {
    case 'unverified':
      return { state: 'unverified', note: `nothing proves that pid ${pid ?? 'unknown'} is this service` };
    case 'stale':
      return { state: 'exited', note: record.pid === null ? 'was never started' : describeExit(exit?.code) };
    case 'running':
      if (hostOfListener(seen) === undefined) return needsPort ? deaf(seen) : { state: 'running' };
      if (health === undefined) return { state: 'ready' };
      return health.healthy ? { state: 'healthy' } : { state: 'unhealthy', note: health.text };
  }
}

/** The loopback address it listens on; undefined if it does not listen or was not looked up. */
export function hostOfListener({ owner }: Pick<ServiceSnapshot, 'owner'>): '127.0.0.1' | '::1' | undefined {
  if (owner.kind !== 'own' || !reachedByLocalhost(owner.holder.address)) return undefined;
  // A service configured for 127.0.0.1 may listen on ::1 nevertheless.
  return owner.holder.address === '::1' ? '::1' : '127.0.0.1';
}

function deaf({ owner, elsewhere }: ServiceSnapshot): Verdict {
  const instead = elsewhere.map((each) => `:${each}`).join(' and ');
  if (owner.kind === 'own') {
    const note = `listens on ${owner.holder.address} only; make it listen on 127.0.0.1`;
    return { state: 'not-listening', note };
  }
  if (instead !== '')
    return {
      state: 'wrong-port',
      note: `listens on ${instead}; pass {port} in its command`,
    };
  if (owner.kind === 'nobody') return { state: 'not-listening' };
  const { pid } = owner.holder;
  const who = pid === undefined ? 'a process of another user' : `pid ${pid}`;
  return { state: 'not-listening', note: `${who} listens on its port` };
}
