import { environmentOf, heldBy, SERVICE_COOKIE, withDescendants } from '../../../process/index.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { observeServices, type Observed, type ServiceLiveness } from '../processes/observe.ts';
import { portOwners, type PortOwner } from '../readiness/port-owners.ts';

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

/**
 * Which services run, and what listens on their ports. Most run as they should, which their own process trees prove;
 * all processes of the system are read only for the others. Listeners are not looked up for services that need no port.
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
    [...new Set(held.filter(({ pid }) => pids.includes(pid)).map(({ port }) => port))].sort((a, b) => a - b);
  const slow = new Map(
    observed.map((each, at): readonly [ServiceRecord, ServiceSnapshot] => {
      const { record, status, root } = each;
      const owner = owners[at]!;
      // If the command that started it was killed, its record has no pid yet.
      const pid = root?.pid ?? record.pid;
      return [
        record,
        { record, status, pid, owner, elsewhere: astray.includes(each) ? elsewhere(each) : [] },
      ];
    }),
  );
  return records.map((record) => quick.get(record) ?? slow.get(record)!);
}

/** Services whose recorded process carries its cookie, and holds the port in its process tree or needs none. */
function quickSnapshot(
  records: readonly ServiceRecord[],
  needsPort: (record: ServiceRecord) => boolean,
): ReadonlyMap<ServiceRecord, ServiceSnapshot> {
  const trees = new Map(
    records.filter(isProven).map((record) => [record, [...withDescendants(record.pid!)]]),
  );
  const held = heldBy(
    [...trees.values()].flat(),
    [...trees.keys()].map(({ port }) => port),
  );
  const found = new Map<ServiceRecord, ServiceSnapshot>();
  for (const [record, pids] of trees) {
    const holder = held.find(({ port, pid }) => port === record.port && pids.includes(pid));
    if (holder === undefined && needsPort(record)) continue;
    const owner: PortOwner = holder === undefined ? { kind: 'nobody' } : { kind: 'own', holder };
    found.set(record, { record, status: 'running', pid: record.pid, owner, elsewhere: [] });
  }
  return found;
}

/** Whether the recorded process carries the cookie of this start. */
function isProven({ pid, cookie }: ServiceRecord): boolean {
  return pid !== null && cookie !== undefined && environmentOf(pid)?.[SERVICE_COOKIE] === cookie;
}
