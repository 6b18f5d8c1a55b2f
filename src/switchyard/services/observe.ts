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
 * - `running`: somebody lives who is proven to be of this start.
 * - `stale`: nobody does.
 * - `unverified`: the recorded process may live, but nothing proves that it is this one, or it is in a container that we
 *   cannot look into. It is never signalled.
 */
export type ServiceLiveness = 'running' | 'stale' | 'unverified';

export interface Observed {
  readonly record: ServiceRecord;
  readonly status: ServiceLiveness;
  /** Everybody who is proven to belong to it, oldest first. */
  readonly pids: readonly number[];
  /** The leading process. Also known when the command that started it could not record it. */
  readonly leader: PidStart | undefined;
  /** How to find the proven processes again, to stop them. */
  readonly mark: CookieTarget;
}

/** Whether the system shows us the environment of our processes, and the cookie in it. */
const COOKIES_SHOW = existsSync('/proc/self/environ');

let shared: CookieProcesses | undefined;

/** The processes of all services. */
export function serviceProcesses(): CookieProcesses {
  return (shared ??= createCookieProcesses(COOKIE));
}

/**
 * Which of these services live. The one place that decides it; without a sighting it looks for itself.
 *
 * Nobody of a service is older than the process that led it, so that a look needs to go no further back. But what is not
 * found that way is looked for once more by its cookie alone: somebody may have put a wrong time into the file, and
 * a service that is considered gone is forgotten.
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

/** The recorded process, as far as pid and start time mean anything: within the boot and view they were written in. */
function writtenLeader(record: ProcessRecord): PidStart | undefined {
  const { pid, process_started_at, boot_id } = record;
  if (pid === null || typeof process_started_at !== 'number' || isElsewhere(record)) return undefined;
  return (boot_id ?? undefined) === bootId() ? { pid, startTime: process_started_at } : undefined;
}

/** Whether it was started on this boot where we may see nobody, for example in another container. */
function isElsewhere({ boot_id, pid_namespace }: ProcessRecord): boolean {
  if (typeof pid_namespace !== 'string' || (boot_id ?? undefined) !== bootId()) return false;
  return pid_namespace !== pidNamespace();
}

/**
 * A leader that lives has to show the cookie: somebody may have written the pid and the start time of a stranger into
 * the file. One that is gone still gives its number to the session that it has left behind.
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

/** For a record of which nobody is proven to live: could its process be alive all the same? */
function mayLive(record: ProcessRecord): boolean {
  const { pid, process_started_at } = record;
  if (isElsewhere(record)) return true;
  if (pid === null) return false;
  const written = writtenLeader(record);
  if (written !== undefined) return isAlive(written);
  // What was written down in another boot ended with it. Without a start time there is nothing to compare.
  if (typeof process_started_at === 'number' || record.cookie !== undefined) return false;
  return describeProcess(pid) !== undefined;
}

/** The recorded one, if it lives; else the eldest that leads a session; else the eldest. */
function leaderAmong(members: readonly RunningProcess[], record: ProcessRecord): PidStart | undefined {
  const found =
    members.find(({ pid, startTime }) => pid === record.pid && startTime === record.process_started_at) ??
    members.find(({ pid, session }) => pid === session) ??
    members[0];
  return found === undefined ? undefined : { pid: found.pid, startTime: found.startTime };
}
