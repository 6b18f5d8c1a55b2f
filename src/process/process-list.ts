import { hasProc } from './proc-file.ts';
import { createProcProcessList } from './process-list-proc.ts';
import { createPsProcessList } from './process-list-ps.ts';
import { sendSignal, type SignalResult } from './send-signal.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** A running process at a point in time. */
export interface RunningProcess extends ProcessIdentity {
  readonly parent: number;
  /** Its session; its process group if sessions are not visible. */
  readonly session: number;
  /** The value of the run's cookie in its environment, if the environment is readable and has one. */
  readonly cookie: string | undefined;
  /**
   * Whether it carries no such cookie and Switchyard's records prove that it is meant to outlive its parent. Default
   * false.
   */
  readonly outlives?: boolean;
}

/** The running processes, and the only means to signal one. */
export interface ProcessList {
  /** All running processes started at `since` or later: an older one cannot descend from a child of ours. */
  read(since: number): readonly RunningProcess[];
  /**
   * The process with this pid at the moment, including a zombie. Reliable for a child spawned in this same turn;
   * `since` is then a moment before that, in milliseconds since the epoch.
   */
  identify(pid: number, since?: number): ProcessIdentity | undefined;
  /** Signals exactly this process: right before, it verifies that the pid is still the same process. */
  signal(target: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): SignalResult;
  /** The exit of our child was collected: from now on its pid may be reused. */
  collected(pid: number): void;
}

/**
 * `cookieName` is the environment variable that contains the cookie of this run's processes; `cgroups` returns whether
 * they are also in cgroups with that name.
 */
export function createProcessList(cookieName: string, cgroups = () => false): ProcessList {
  if (process.platform === 'win32') return createIdentityList();
  return hasProc() ? createProcProcessList(cookieName, cgroups) : createPsProcessList();
}

/** The process list of Windows, which only knows whether a process is alive. `windows/` handles descendants. */
function createIdentityList(): ProcessList {
  return {
    read: () => [],
    identify: (pid) => ({ pid, startTime: 0 }),
    signal: ({ pid }, signal) => sendSignal(pid, signal),
    collected: () => undefined,
  };
}
