import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/** Identifies one process. Pids are reused; a pid together with its start time is not. */
export interface PidStart {
  readonly pid: number;
  /** When it started, in the system's own unit (Linux: clock ticks since boot). Comparable on one boot only. */
  readonly startTime: number;
}

/** What `/proc/PID/stat` says, as far as we need it. */
export interface ProcessStat extends PidStart {
  readonly parent: number;
  readonly session: number;
  readonly alive: boolean;
}

/** The line of `/proc/PID/stat`; undefined when it is not one (the process vanished between open and read). */
export function parseStat(text: string): ProcessStat | undefined {
  // The second field is the program's own choice of name and may hold spaces, newlines and parentheses.
  const nameEnd = text.lastIndexOf(')');
  if (nameEnd === -1) return undefined;
  const fields = text.slice(nameEnd + 2).split(' ', 20);
  const pid = Number.parseInt(text, 10);
  const parent = Number(fields[1]);
  const session = Number(fields[3]);
  const threads = Number(fields[17]);
  const startTime = Number(fields[19]);
  if (![pid, parent, session, threads, startTime].every(Number.isSafeInteger)) return undefined;
  // A zombie is dead, unless only its first thread ended and others still run.
  const ended = fields[0] === 'Z' || fields[0] === 'X' || fields[0] === 'x';
  return { pid, parent, session, startTime, alive: !ended || threads > 1 };
}

/** Longer than what is read can be. Such a file does not say how long it is, and readFileSync makes room for much more. */
const scratch = Buffer.alloc(4096);

/** Undefined when there is no such process. */
export function readStat(pid: number): ProcessStat | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/stat`, 'r');
    return parseStat(scratch.toString('latin1', 0, readSync(file, scratch, 0, scratch.length, null)));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

let knownBoot: string | undefined;

/** Names this boot of the machine, for identities that are written down; undefined where the system tells none. */
export function bootId(): string | undefined {
  try {
    knownBoot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
  return knownBoot;
}

let knownNamespace: string | undefined;

/**
 * Identifies our PID namespace; undefined where the system does not expose it. Containers on one machine share the boot
 * and possibly a disk, but number their processes independently and cannot see each other's.
 */
export function pidNamespace(): string | undefined {
  try {
    knownNamespace ??= readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
  return knownNamespace;
}
