import { heldBy, ownHolders, processTree, variableOf } from '../../process/index.ts';
import type { ServiceRecord } from '../state/records.ts';
import { COOKIE } from './cookie.ts';
import { observeServices, type Observed, type ServiceLiveness } from './observe.ts';
import { portOwners, type PortOwner } from './port-owners.ts';

/** A recorded service, as the kernel shows it. */
export interface ServiceSnapshot {
  readonly record: ServiceRecord;
  readonly status: ServiceLiveness;
  /** The process that leads the others. */
  readonly pid: number | null;
  /** Who listens on its port. */
  readonly owner: PortOwner;
  /** The ports it listens on instead. Empty where it listens on its own. */
  readonly elsewhere: readonly number[];
}

/**
 * Which services live, and who listens on their ports. Most run as they should, which a look at their own process trees
 * proves; only for the others all processes of the system are read. Of those that need no port, none is looked for.
 */
export function snapshotServices(
  records: readonly ServiceRecord[],
  needsPort: (record: ServiceRecord) => boolean,
): readonly ServiceSnapshot[] {
  const quick = quickSnapshot(records, needsPort);
  const observed = observeServices(records.filter((record) => !quick.has(record)));
  const owners = portOwners(observed);
  const astray = observed.filter(({ status }, at) => status === 'running' && owners[at]!.kind !== 'own');
  const held = heldBy(astray.flatMap(({ pids }) => pids));
  const elsewhere = ({ pids }: Observed): readonly number[] =>
    [...new Set(held.filter(({ pid }) => pids.includes(pid!)).map(({ port }) => port))].sort((a, b) => a - b);
  const slow = new Map(
    observed.map((each, at): readonly [ServiceRecord, ServiceSnapshot] => {
      const { record, status, leader } = each;
      const owner = owners[at]!;
      // One whose starter was killed has no pid in its record yet.
      const pid = leader?.pid ?? record.pid;
      return [
        record,
        { record, status, pid, owner, elsewhere: astray.includes(each) ? elsewhere(each) : [] },
      ];
    }),
  );
  return records.map((record) => quick.get(record) ?? slow.get(record)!);
}

/** Those whose recorded process shows its cookie, and has the port in its process tree or needs none. */
function quickSnapshot(
  records: readonly ServiceRecord[],
  needsPort: (record: ServiceRecord) => boolean,
): ReadonlyMap<ServiceRecord, ServiceSnapshot> {
  const proven = records.filter(isProven);
  // Two records may have one port; then the second one is looked at in the slow way.
  const byPort = new Map(proven.toReversed().map((record) => [record.port, record]));
  const own = ownHolders(new Map([...byPort].map(([port, { pid }]) => [port, processTree(pid!)])));
  const found = new Map<ServiceRecord, ServiceSnapshot>();
  for (const record of proven) {
    const holder = byPort.get(record.port) === record ? own.get(record.port) : undefined;
    if (holder === undefined && needsPort(record)) continue;
    const owner: PortOwner = holder === undefined ? { kind: 'nobody' } : { kind: 'own', holder };
    found.set(record, { record, status: 'running', pid: record.pid, owner, elsewhere: [] });
  }
  return found;
}

/** Whether the recorded process carries the cookie that only processes of this start have. */
function isProven({ pid, cookie }: ServiceRecord): boolean {
  return pid !== null && cookie !== undefined && variableOf(pid, COOKIE) === cookie;
}
