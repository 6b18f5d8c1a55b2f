import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { createProcessList } from './process-list.ts';
import { bootId, pidNamespace, readStat, type PidStart } from './pid-start.ts';

/** Identifies a process to other programs, also later. */
export interface ProcessIdentity extends PidStart {
  /** Machine, boot and PID namespace; a pid has a meaning only within these. */
  readonly place: string;
}

let ownStart: number | undefined;

/** Our own identity. */
export function ownIdentity(): ProcessIdentity {
  ownStart ??= identify(process.pid)?.startTime;
  return { pid: process.pid, startTime: ownStart ?? 0, place: place() };
}

/**
 * Whether the process still runs; unknown if the identity is from a machine or namespace that is not visible from here.
 */
export function processStatus(identity: ProcessIdentity): 'alive' | 'gone' | 'unknown' {
  if (identity.place !== place()) return 'unknown';
  return identify(identity.pid)?.startTime === identity.startTime ? 'alive' : 'gone';
}

/** The process with this pid now; undefined if none runs. */
function identify(pid: number): PidStart | undefined {
  if (existsSync('/proc/self/stat')) {
    const stat = readStat(pid);
    return stat?.alive === true ? stat : undefined;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user is alive too.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  return createProcessList('').identify(pid);
}

let knownPlace: string | undefined;

function place(): string {
  knownPlace ??= [hostname(), bootId() ?? '', pidNamespace() ?? ''].join(' ');
  return knownPlace;
}
