import {
  createTreeFinder,
  DAEMON_COOKIE,
  showsEnvironments,
  variableOfProcess,
  type TreeIdentity,
} from '../../../process/index.ts';
import type { Home } from '../../records/state/home.ts';
import { placeFields, recordedRoot } from '../../records/state/process-record.ts';
import { timestamp, type DaemonRecord } from '../../records/state/records.ts';

/** Whether the recorded process still runs. */
export function isDaemonAlive(record: DaemonRecord): boolean {
  // Reads one process instead of all of them.
  if (record.cookie === undefined) return false;
  if (record.pid !== null && showsEnvironments())
    return variableOfProcess(record.pid, DAEMON_COOKIE) === record.cookie;
  const tree = treeOf(record);
  return createTreeFinder(DAEMON_COOKIE).look([tree]).membersOf(tree).length > 0;
}

/** Whether this process is a daemon of this home, even if the records were lost. */
export function isDaemonOf(home: Home, pid: number, record: DaemonRecord | undefined): boolean {
  if (showsEnvironments()) return variableOfProcess(pid, DAEMON_COOKIE)?.startsWith(`${home.hash}.`) === true;
  return record?.pid === pid && isDaemonAlive(record);
}

/**
 * The record of a running daemon of this home that is not in the records; undefined if nothing proves that it is one.
 */
export function recordOfDaemon(
  home: Home,
  pid: number,
  endpoint: { readonly host: string; readonly port: number; readonly log_file: string },
): DaemonRecord | undefined {
  const cookie = variableOfProcess(pid, DAEMON_COOKIE);
  if (cookie?.startsWith(`${home.hash}.`) !== true) return undefined;
  const unknown = { version: null, build: null };
  return { ...endpoint, pid, cookie, ...placeFields(), started_at: timestamp(), ...unknown };
}

/** Stops the recorded process if it is still the same; returns whether it is gone. */
export async function stopDaemon(name: string, record: DaemonRecord): Promise<boolean> {
  const [report] = await createTreeFinder(DAEMON_COOKIE).stop([{ name, ...treeOf(record) }], {
    kill: 1500,
  });
  return report?.kind === 'gone';
}

/** The cookie alone where environments are visible: a pid may be reused within one clock tick. */
function treeOf(record: DaemonRecord): TreeIdentity {
  return { root: showsEnvironments() ? undefined : recordedRoot(record), cookie: record.cookie };
}
