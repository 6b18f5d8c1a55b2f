import { existsSync } from 'node:fs';
import { createProcProcessList } from './process-list-proc.ts';
import { createPsProcessList } from './process-list-ps.ts';
import { createWindowsProcessList } from './process-list-windows.ts';
import type { SignalResult } from './send-signal.ts';
import type { PidStart } from './pid-start.ts';

/** A living process, as one look at the system saw it. */
export interface RunningProcess extends PidStart {
  readonly parent: number;
  /** Its session; where sessions cannot be seen, its process group. */
  readonly session: number;
  /** The value of the run's cookie in its environment, if it carries one that can be read. */
  readonly cookie: string | undefined;
  /** Whether it carries no such cookie and is meant to outlive the process that started it. Default false. */
  readonly outlives?: boolean;
}

/** Who is alive, and the only way to signal anybody. */
export interface ProcessList {
  /** Everybody alive who started at `since` or later: nobody older can descend from a child of ours. */
  read(since: number): readonly RunningProcess[];
  /** Who holds this pid now, dead but uncollected included. Reliable for a child that was spawned in this same turn. */
  identify(pid: number): PidStart | undefined;
  /** Signals this very process; proves just before that the pid is still its own. */
  signal(target: PidStart, signal: 'SIGTERM' | 'SIGKILL'): SignalResult;
  /** Our child's exit was collected: from now on its pid may be anybody's. */
  collected(pid: number): void;
}

/** `cookieName` is the environment variable that marks the processes of this run. */
export function createProcessList(cookieName: string): ProcessList {
  if (process.platform === 'win32') return createWindowsProcessList();
  return existsSync('/proc/self/stat') ? createProcProcessList(cookieName) : createPsProcessList();
}
