import { bootId, pidNamespace, type ProcessIdentity } from '../../../process/index.ts';
import type { ProcessRecord } from './records.ts';

/** The fields of a record that identify a process. */
export function identityFields({ pid, startTime }: ProcessIdentity) {
  return { pid, pgid: pid, process_started_at: startTime, ...placeFields() };
}

/** Where and when recorded pids are valid. */
export function placeFields() {
  return { boot_id: bootId() ?? null, pid_namespace: pidNamespace() ?? null };
}

/** The recorded process, if its pid and start time are valid: from the same boot and PID namespace. */
export function recordedRoot(record: ProcessRecord): ProcessIdentity | undefined {
  const { pid, process_started_at: startTime } = record;
  if (pid === null || typeof startTime !== 'number' || isElsewhere(record)) return undefined;
  return isSameBoot(record) ? { pid, startTime } : undefined;
}

/** Whether it was started on this boot where its processes are not visible, for example in another container. */
export function isElsewhere(record: ProcessRecord): boolean {
  const { pid_namespace: namespace } = record;
  return typeof namespace === 'string' && isSameBoot(record) && namespace !== pidNamespace();
}

function isSameBoot({ boot_id }: ProcessRecord): boolean {
  return (boot_id ?? undefined) === bootId();
}
