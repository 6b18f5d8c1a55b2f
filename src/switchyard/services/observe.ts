import { existsSync } from 'node:fs';
import {
  bootId,
  createCookieProcesses,
  describeProcess,
  processStatus,
  ownIdentity,
  pidNamespace,
  type PidStart,
  type RunningProcess,
  type CookieTarget,
  type CookieProcesses,
  type ProcessSnapshot,
} from '../../process/index.ts';
import type { ProcessRecord, ServiceRecord } from '../state/records.ts';
import { COOKIE } from './cookie.ts';

/**
 * - `running`: a process is proven to be of this start.
 * - `stale`: no process of it runs.
 * - `unverified`: the recorded process may run, but nothing proves that it is the same, or it is in a container that is
 *   not visible from here. It is never signalled.
 */
export type ServiceLiveness = 'running' | 'stale' | 'unverified';

export interface Observed {
  readonly record: ServiceRecord;
  readonly status: ServiceLiveness;
  /** All processes proven to belong to it, oldest first. */
  readonly pids: readonly number[];
  /** The leading process. Also known when the command that started it could not record it. */
  readonly leader: PidStart | undefined;
  /** How to find the proven processes again, to stop them. */
  readonly mark: CookieTarget;
}

/** Whether the system exposes the environment of our processes, with the cookie. */
const COOKIES_SHOW = existsSync('/proc/self/environ');

let shared: CookieProcesses | undefined;

/** The processes of all services. */
export function serviceProcesses(): CookieProcesses {
  return (shared ??= createCookieProcesses(COOKIE));
}

/**
 * Determines which services run; the only place that does. Takes a snapshot itself if none is given.
 *
 * No process of a service is older than its leader, so a search need not go further back. But services that are not
 * found that way are searched once more by their cookie alone: the file may contain a wrong start time, and a service
 * that is considered gone is forgotten.
 */
export function observeServices(
  records: readonly ServiceRecord[],
  sighting?: ProcessSnapshot,
): readonly Observed[] {
  if (records.length === 0) return [];
  const targets = records.map((record) => ({ leader: writtenLeader(record), cookie: record.cookie }));
  const seen = sighting ?? serviceProcesses().look(targets);
  const observed = records.map((record) => observe(record, writtenLeader(record), seen));
  if (observed.every(({ status, record }) => status === 'running' || record.cookie === undefined))
    return observed;
  const all = sighting ?? serviceProcesses().look();
  return observed.map((first) => {
    if (first.status === 'running') return first;
    const again = observe(first.record, undefined, all);
    return again.status === 'running' ? again : first;
  });
}

function observe(record: ServiceRecord, written: PidStart | undefined, sighting: ProcessSnapshot): Observed {
  const counts = written !== undefined && leaderCounts(written, record.cookie, sighting);
  const mark = { leader: counts ? written : undefined, cookie: record.cookie };
  const members = sighting.membersOf(mark);
  const status = members.length > 0 ? 'running' : mayLive(record) ? 'unverified' : 'stale';
  return { record, status, mark, leader: leaderAmong(members, record), pids: members.map(({ pid }) => pid) };
}

/** The recorded process, if its pid and start time are valid: from the same boot and PID namespace. */
function writtenLeader(record: ProcessRecord): PidStart | undefined {
  const { pid, process_started_at, boot_id } = record;
  if (pid === null || typeof process_started_at !== 'number' || isElsewhere(record)) return undefined;
  return (boot_id ?? undefined) === bootId() ? { pid, startTime: process_started_at } : undefined;
}

/** Whether it was started on this boot where its processes are not visible, for example in another container. */
function isElsewhere({ boot_id, pid_namespace }: ProcessRecord): boolean {
  if (typeof pid_namespace !== 'string' || (boot_id ?? undefined) !== bootId()) return false;
  return pid_namespace !== pidNamespace();
}

/**
 * A running leader must carry the cookie, because the file may contain the pid and start time of another process. A
 * leader that is gone still identifies the session it has left.
 */
function leaderCounts(leader: PidStart, cookie: string | undefined, sighting: ProcessSnapshot): boolean {
  if (!COOKIES_SHOW) return true;
  const carriers = cookie === undefined ? undefined : sighting.carriers().get(cookie);
  return carriers?.some((carrier) => isSame(carrier, leader)) === true || !isAlive(leader);
}

function isSame(a: PidStart, b: PidStart): boolean {
  return a.pid === b.pid && a.startTime === b.startTime;
}

function isAlive(identity: PidStart): boolean {
  return (
    processStatus({ pid: identity.pid, startTime: identity.startTime, place: ownIdentity().place }) ===
    'alive'
  );
}

/** For a record without a proven process: may its process still run? */
function mayLive(record: ProcessRecord): boolean {
  const { pid, process_started_at } = record;
  if (isElsewhere(record)) return true;
  if (pid === null) return false;
  const written = writtenLeader(record);
  if (written !== undefined) return isAlive(written);
  // Processes of another boot are gone. Without a start time there is nothing to compare.
  if (typeof process_started_at === 'number' || record.cookie !== undefined) return false;
  return describeProcess(pid) !== undefined;
}

/** The recorded leader, if it runs; otherwise the oldest session leader; otherwise the oldest process. */
function leaderAmong(members: readonly RunningProcess[], record: ProcessRecord): PidStart | undefined {
  const found =
    members.find(({ pid, startTime }) => pid === record.pid && startTime === record.process_started_at) ??
    members.find(({ pid, session }) => pid === session) ??
    members[0];
  return found === undefined ? undefined : { pid: found.pid, startTime: found.startTime };
}
