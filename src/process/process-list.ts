import { hasProc } from './proc-file.ts';
import { createProcProcessList } from './process-list-proc.ts';
import { createPsProcessList } from './process-list-ps.ts';
import { sendSignal, type SignalResult } from './send-signal.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** A running process at one moment. */
export interface RunningProcess extends ProcessIdentity {
  readonly parent: number;
  /** Its session; its process group where sessions are not visible. */
  readonly session: number;
  /** The value of the run's cookie in its environment, if it is readable and carries one. */
  readonly cookie: string | undefined;
  /** Whether it carries no such cookie, and Switchyard's records prove that it outlives its parent. Default false. */
  readonly outlives?: boolean;
}

/** The running processes, and the only way to signal one. */
export interface ProcessList {
  /** All running processes started at `since` or later: an older one cannot descend from a child of ours. */
  read(since: number): readonly RunningProcess[];
  /**
   * The process with this pid now, including a zombie. Reliable for a child spawned in this same turn; `since` is then a
   * moment before that, in milliseconds since the epoch.
   */
  identify(pid: number, since?: number): ProcessIdentity | undefined;
  /** Signals exactly this process; verifies right before that the pid is still its own. */
  signal(target: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): SignalResult;
  /** The exit of our child was collected: from now on its pid may be reused. */
  collected(pid: number): void;
}

/**
 * `cookieName` is the environment variable that contains the cookie of the processes of this run; `cgroups` is whether
 * they are in cgroups with that name too.
 */
export function createProcessList(cookieName: string, cgroups = () => false): ProcessList {
  if (process.platform === 'win32') return createIdentityList();
  return hasProc() ? createProcProcessList(cookieName, cgroups) : createPsProcessList();
}

/** Windows, for whether one process is alive. What descends from it is the matter of `windows/`. */
function createIdentityList(): ProcessList {
  return {
    read: () => [],
    identify: (pid) => ({ pid, startTime: 0 }),
    signal: ({ pid }, signal) => sendSignal(pid, signal),
    collected: () => undefined,
  };
}
