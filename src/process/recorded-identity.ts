import { hostname } from 'node:os';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { hasProc } from './proc-file.ts';
import { createProcessList } from './process-list.ts';
import { bootId, pidNamespace, readStat, type ProcessIdentity } from './process-identity.ts';

/** A process identity that other programs can use, also later. */
export interface RecordedIdentity extends ProcessIdentity {
  /** The machine, boot and PID namespace; a pid is meaningful only within these. */
  readonly place: string;
}

let ownStart: number | undefined;

/** Our own identity. */
export function ownIdentity(): RecordedIdentity {
  ownStart ??= identify(process.pid)?.startTime;
  return { pid: process.pid, startTime: ownStart ?? 0, place: place() };
}

/**
 * Whether the process still runs; unknown if the identity is from a machine or namespace that is not visible from here.
 */
export function processStatus(identity: RecordedIdentity): 'alive' | 'gone' | 'unknown' {
  if (identity.place !== place()) return 'unknown';
  return isProcessAlive(identity) ? 'alive' : 'gone';
}

/** The same for a process of this machine, boot and namespace. */
export function isProcessAlive({ pid, startTime }: ProcessIdentity): boolean {
  return identify(pid)?.startTime === startTime;
}

/** The running process with this pid; undefined if there is none. */
function identify(pid: number): ProcessIdentity | undefined {
  if (hasProc()) {
    const stat = readStat(pid);
    return stat?.alive === true ? stat : undefined;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user is alive too.
    if (nodeErrorCode(error) !== 'EPERM') return undefined;
  }
  return createProcessList('').identify(pid);
}

let knownPlace: string | undefined;

function place(): string {
  knownPlace ??= [hostname(), bootId() ?? '', pidNamespace() ?? ''].join(' ');
  return knownPlace;
}
