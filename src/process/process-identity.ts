import { readlinkSync } from 'node:fs';
import { readProcFile } from './proc-file.ts';

/** Identifies one process. Pids are reused; a pid together with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /**
   * When the process started, in the unit of the system (Linux: clock ticks since boot). Comparable only within one
   * boot.
   */
  readonly startTime: number;
}

/** The fields of `/proc/PID/stat` that we need. */
export interface ProcessStat extends ProcessIdentity {
  readonly parent: number;
  readonly session: number;
  readonly alive: boolean;
}

/** Parses `/proc/PID/stat`; undefined if the text is invalid (the process disappeared between open and read). */
export function parseStat(text: string): ProcessStat | undefined {
  // The second field is a name the program chooses; it may contain spaces, newlines and parentheses.
  const nameEnd = text.lastIndexOf(')');
  if (nameEnd === -1) return undefined;
  const fields = text.slice(nameEnd + 2).split(' ', 20);
  const pid = Number.parseInt(text, 10);
  const parent = Number(fields[1]);
  const session = Number(fields[3]);
  const threads = Number(fields[17]);
  const startTime = Number(fields[19]);
  if (![pid, parent, session, threads, startTime].every(Number.isSafeInteger)) return undefined;
  // A zombie has ended, unless only its first thread has ended and others still run.
  const ended = fields[0] === 'Z' || fields[0] === 'X' || fields[0] === 'x';
  return { pid, parent, session, startTime, alive: !ended || threads > 1 };
}

/** Undefined if the process does not exist. */
export function readStat(pid: number): ProcessStat | undefined {
  return parseStat(readProcFile(`/proc/${pid}/stat`));
}

/** Identifies this boot of the machine, for recorded identities; undefined if the system does not expose it. */
export function bootId(): string | undefined {
  boot ??= readProcFile('/proc/sys/kernel/random/boot_id').trim();
  return boot || undefined;
}

/** Read once, because the records of all processes are compared with it. */
let boot: string | undefined;

/**
 * Identifies our PID namespace; undefined if the system does not expose it. Containers on one machine share the boot
 * and possibly a disk, but number their processes independently and cannot see each other's.
 */
export function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}
