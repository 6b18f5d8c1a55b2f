import { existsSync } from 'node:fs';
import { createProcCensus } from './census-proc.ts';
import { createPsCensus } from './census-ps.ts';
import { createWindowsCensus } from './census-windows.ts';
import type { Delivery } from './deliver.ts';
import type { Identity } from './identity.ts';

/** A living process, as one look at the system saw it. */
export interface LivingProcess extends Identity {
  readonly parent: number;
  /** Its session; where sessions cannot be seen, its process group. */
  readonly session: number;
  /** The value of the run's cookie in its environment, if it carries one that can be read. */
  readonly cookie: string | undefined;
  /** Whether it carries no such cookie, and is meant to go on when whoever started it ends. Default false. */
  readonly outlives?: boolean;
}

/** Who is alive, and the only way to signal anybody. */
export interface Census {
  /** Everybody alive who started at `since` or later: nobody older can descend from a child of ours. */
  take(since: number): readonly LivingProcess[];
  /** Who holds this pid now, dead but uncollected included. Reliable for a child that was spawned in this same turn. */
  identify(pid: number): Identity | undefined;
  /** Signals this very process; proves just before that the pid is still its own. */
  signal(target: Identity, signal: 'SIGTERM' | 'SIGKILL'): Delivery;
  /** Our child's exit was collected: from now on its pid may be anybody's. */
  collected(pid: number): void;
}

/** `cookieName` is the environment variable that marks the processes of this run. */
export function createCensus(cookieName: string): Census {
  if (process.platform === 'win32') return createWindowsCensus();
  return existsSync('/proc/self/stat') ? createProcCensus(cookieName) : createPsCensus();
}
