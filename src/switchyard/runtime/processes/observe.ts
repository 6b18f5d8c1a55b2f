import {
  createTreeFinder,
  describeProcess,
  isProcessAlive,
  SERVICE_COOKIE,
  showsEnvironments,
  variableOfProcess,
  withDescendants,
  type ProcessIdentity,
  type RunningProcess,
  type TreeIdentity,
  type TreeFinder,
  type ProcessSnapshot,
} from '../../../process/index.ts';
import { isElsewhere, recordedRoot } from '../../records/state/process-record.ts';
import type { ProcessRecord, ServiceRecord } from '../../records/state/records.ts';

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
  /** Its root process. Also known when the command that started it could not record it. */
  readonly root: ProcessIdentity | undefined;
  /** How to find the proven processes again, to stop them. */
  readonly tree: TreeIdentity;
}

let shared: TreeFinder | undefined;

/** The processes of all services. */
export function serviceProcesses(): TreeFinder {
  return (shared ??= createTreeFinder(SERVICE_COOKIE));
}

/** The recorded services that are running. */
export function runningAmong(records: readonly ServiceRecord[]): readonly ServiceRecord[] {
  return observeServices(records).flatMap(({ record, status }) => (status === 'running' ? [record] : []));
}

/**
 * Determines which services run; only this file does. Takes a snapshot itself if none is given.
 *
 * No process of a service is older than its root, so a search need not go further back. But services that are not
 * found that way are searched once more by their cookie alone: the file may contain a wrong start time, and a service
 * that is considered gone is forgotten.
 */
export function observeServices(
  records: readonly ServiceRecord[],
  snapshot?: ProcessSnapshot,
): readonly Observed[] {
  if (records.length === 0) return [];
  const trees = records.map((record) => ({ root: recordedRoot(record), cookie: record.cookie }));
  const seen = snapshot ?? serviceProcesses().look(trees);
  const observed = records.map((record) => observe(record, recordedRoot(record), seen));
  if (observed.every(({ status, record }) => status === 'running' || record.cookie === undefined))
    return observed;
  const all = snapshot ?? serviceProcesses().look();
  return observed.map((first) => {
    if (first.status === 'running') return first;
    const again = observe(first.record, undefined, all);
    return again.status === 'running' ? again : first;
  });
}

/**
 * The services whose recorded process has their cookie, with the descendants that its tree leads to. This only proves
 * that they are running; the others may be running, too. Reads no other process: reading all of them, 130 here, takes 6
 * ms more, and a host waits for `brief`.
 */
export function observeRecordedTrees(records: readonly ServiceRecord[]): readonly Observed[] {
  return records.flatMap((record) => {
    const root = recordedRoot(record);
    const { cookie } = record;
    if (root === undefined || cookie === undefined) return [];
    if (variableOfProcess(root.pid, SERVICE_COOKIE) !== cookie) return [];
    const pids = [...withDescendants(root.pid)];
    return [{ record, status: 'running', tree: { root, cookie }, root, pids }];
  });
}

function observe(
  record: ServiceRecord,
  written: ProcessIdentity | undefined,
  snapshot: ProcessSnapshot,
): Observed {
  const counts = written !== undefined && rootCounts(written, record.cookie, snapshot);
  const tree = { root: counts ? written : undefined, cookie: record.cookie };
  const members = snapshot.membersOf(tree);
  const status = members.length > 0 ? 'running' : mayLive(record) ? 'unverified' : 'stale';
  return { record, status, tree, root: rootAmong(members, record), pids: members.map(({ pid }) => pid) };
}

/**
 * A running root must carry the cookie, because the file may contain the pid and start time of another process. A
 * root that is gone still identifies the session it has left.
 */
function rootCounts(root: ProcessIdentity, cookie: string | undefined, snapshot: ProcessSnapshot): boolean {
  if (!showsEnvironments()) return true;
  const carriers = cookie === undefined ? undefined : snapshot.carriers().get(cookie);
  return carriers?.some((carrier) => isSame(carrier, root)) === true || !isProcessAlive(root);
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startTime === b.startTime;
}

/** For a record without a proven process: may its process still run? */
function mayLive(record: ProcessRecord): boolean {
  const { pid, process_started_at } = record;
  if (isElsewhere(record)) return true;
  if (pid === null) return false;
  const written = recordedRoot(record);
  if (written !== undefined) return isProcessAlive(written);
  // Processes of another boot are gone. Without a start time there is nothing to compare.
  if (typeof process_started_at === 'number' || record.cookie !== undefined) return false;
  return describeProcess(pid) !== undefined;
}

/** The recorded root, if it runs; otherwise the oldest process that leads a session; otherwise the oldest. */
function rootAmong(members: readonly RunningProcess[], record: ProcessRecord): ProcessIdentity | undefined {
  const found =
    members.find(({ pid, startTime }) => pid === record.pid && startTime === record.process_started_at) ??
    members.find(({ pid, session }) => pid === session) ??
    members[0];
  return found === undefined ? undefined : { pid: found.pid, startTime: found.startTime };
}
