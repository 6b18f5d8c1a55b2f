import { heldBy } from '../../../process/index.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import type { Observed, ServiceLiveness } from '../processes/observe.ts';
import { observeOwners, type PortOwner } from '../readiness/port-owners.ts';

/** A recorded service and its processes, according to the kernel. */
export interface ServiceSnapshot {
  readonly record: ServiceRecord;
  readonly status: ServiceLiveness;
  /** The leading process. */
  readonly pid: number | null;
  /** What listens on its port. */
  readonly owner: PortOwner;
  /** The ports it listens on instead. Empty if it listens on its own. */
  readonly elsewhere: readonly number[];
}

/** Which services run, and what listens on their ports. */
export function snapshotServices(
  records: readonly ServiceRecord[],
  needsPort: (record: ServiceRecord) => boolean,
): readonly ServiceSnapshot[] {
  const observed = observeOwners(records, needsPort);
  const astray = observed.filter(({ status, owner }) => status === 'running' && owner.kind !== 'own');
  const held = heldBy(astray.flatMap(({ pids }) => pids));
  const elsewhere = ({ pids }: Observed): readonly number[] =>
    [...new Set(held.filter(({ pid }) => pids.includes(pid)).map(({ port }) => port))].sort((a, b) => a - b);
  return observed.map((each) => {
    const { record, status, root, owner } = each;
    // If the command that started it was killed, its record has no pid yet.
    const pid = root?.pid ?? record.pid;
    return { record, status, pid, owner, elsewhere: astray.includes(each) ? elsewhere(each) : [] };
  });
}
