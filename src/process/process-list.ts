import { existsSync } from 'node:fs';
import { createProcProcessList } from './process-list-proc.ts';
import { createPsProcessList } from './process-list-ps.ts';
import { createWindowsProcessList } from './process-list-windows.ts';
import type { SignalResult } from './send-signal.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** A running process at one moment. */
export interface RunningProcess extends ProcessIdentity {
  readonly parent: number;
  /** Its session; its process group where sessions are not visible. */
  readonly session: number;
  /** The value of the run's cookie in its environment, if it is readable and carries one. */
  readonly cookie: string | undefined;
  /** Whether it carries no such cookie and is meant to outlive the process that started it. Default false. */
  readonly outlives?: boolean;
}

/** The running processes, and the only way to signal one. */
export interface ProcessList {
  /** All running processes started at `since` or later: an older one cannot descend from a child of ours. */
  read(since: number): readonly RunningProcess[];
  /** The process with this pid now, including a zombie. Reliable for a child spawned in this same turn. */
  identify(pid: number): ProcessIdentity | undefined;
  /** Signals exactly this process; verifies right before that the pid is still its own. */
  signal(target: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): SignalResult;
  /** The exit of our child was collected: from now on its pid may be reused. */
  collected(pid: number): void;
}

/** `cookieName` is the environment variable that contains the cookie of the processes of this run. */
export function createProcessList(cookieName: string): ProcessList {
  if (process.platform === 'win32') return createWindowsProcessList();
  return existsSync('/proc/self/stat') ? createProcProcessList(cookieName) : createPsProcessList();
}
