import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { createCensus } from './census.ts';
import { bootId, pidNamespace, readStat, type Identity } from './identity.ts';

/** A process as another program can recognise it later. */
export interface ProcessMark extends Identity {
  /** The machine, its boot and its view of processes: only within one of these does a pid mean anything. */
  readonly place: string;
}

let ownStart: number | undefined;

/** Our own mark. */
export function ownMark(): ProcessMark {
  ownStart ??= identify(process.pid)?.startTime;
  return { pid: process.pid, startTime: ownStart ?? 0, place: place() };
}

/** Whether the process of a mark still runs; unknown where the mark was made in a place we cannot see from here. */
export function fateOf(mark: ProcessMark): 'alive' | 'gone' | 'unknown' {
  if (mark.place !== place()) return 'unknown';
  return identify(mark.pid)?.startTime === mark.startTime ? 'alive' : 'gone';
}

/** Who holds this pid now; undefined when nobody living does. */
function identify(pid: number): Identity | undefined {
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
  return createCensus('').identify(pid);
}

let knownPlace: string | undefined;

function place(): string {
  knownPlace ??= [hostname(), bootId() ?? '', pidNamespace() ?? ''].join(' ');
  return knownPlace;
}
