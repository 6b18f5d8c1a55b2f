import type { RecordedExit } from '../../process/index.ts';
import { reachedByLocalhost } from '../ports/listeners.ts';
import type { ServiceHealthResult } from './health.ts';
import type { ServiceSnapshot } from './snapshot.ts';
import { describeExit } from './describe-exit.ts';

/**
 * - `healthy`: it listens on its port, and its health address answers well.
 * - `ready`: it listens on its port, and has no health address.
 * - `running`: it runs, and listens nowhere: `ready_timeout = 0` says so, or it is not in the file any more.
 * - `unhealthy`: it listens, but its health address does not answer, or answers with an error.
 * - `not-listening`: it runs, but does not listen on its port (yet).
 * - `wrong-port`: it runs, and listens on another port than its own.
 * - `exited`: nothing of it runs any more.
 * - `unverified`: a process may be it, but nothing proves that.
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
  /** What the state alone does not say, as part of a sentence about the service. */
  readonly note?: string;
}

/** Whether a service does what it is for. */
export function isWell(state: string): boolean {
  return state === 'healthy' || state === 'ready' || state === 'running';
}

export interface Further {
  /** Whether it should listen on its port. */
  readonly needsPort: boolean;
  /** What its health address answered, where it was asked. */
  readonly health?: ServiceHealthResult | undefined;
  /** How it ended, where that was noted. */
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

/** The loopback address on which it listens; undefined where it does not, or where nobody looks for it. */
export function hostOfListener({ owner }: Pick<ServiceSnapshot, 'owner'>): '127.0.0.1' | '::1' | undefined {
  if (owner.kind !== 'own' || !reachedByLocalhost(owner.holder.address)) return undefined;
  // One that was told 127.0.0.1 may listen on ::1 all the same.
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
