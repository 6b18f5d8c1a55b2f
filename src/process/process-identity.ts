import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { createProcessList } from './process-list.ts';
import { bootId, pidNamespace, readStat, type PidStart } from './pid-start.ts';

/** A process as another program can recognise it later. */
export interface ProcessIdentity extends PidStart {
  /** The machine, its boot and its view of processes: only within one of these does a pid mean anything. */
  readonly place: string;
}

let ownStart: number | undefined;

/** Our own mark. */
export function ownIdentity(): ProcessIdentity {
  ownStart ??= identify(process.pid)?.startTime;
  return { pid: process.pid, startTime: ownStart ?? 0, place: place() };
}

/** Whether the process of a mark still runs; unknown where the mark was made in a place we cannot see from here. */
export function processStatus(mark: ProcessIdentity): 'alive' | 'gone' | 'unknown' {
  if (mark.place !== place()) return 'unknown';
  return identify(mark.pid)?.startTime === mark.startTime ? 'alive' : 'gone';
}

/** Who holds this pid now; undefined when nobody living does. */
function identify(pid: number): PidStart | undefined {
  if (existsSync('/proc/self/stat')) {
    const stat = readStat(pid);
    return stat?.alive === true ? stat : undefined;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is alive all the same.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  return createProcessList('').identify(pid);
}

let knownPlace: string | undefined;

function place(): string {
  knownPlace ??= [hostname(), bootId() ?? '', pidNamespace() ?? ''].join(' ');
  return knownPlace;
}
