import { heldBy, portHolders, type PortHolder } from '../../../process/index.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { observeRecordedTrees, observeServices, type Observed } from '../processes/observe.ts';

/** What listens on the port of a service: one of its own processes, another process, or nothing. */
export type PortOwner =
  | { readonly kind: 'own'; readonly holder: PortHolder }
  | { readonly kind: 'stranger'; readonly holder: PortHolder }
  | { readonly kind: 'nobody' };

/** A service and what listens on its port. */
export interface OwnedPort extends Observed {
  readonly owner: PortOwner;
}

/**
 * Which services are running, and what listens on their ports, in the same order. Most run as they should, which their
 * own process trees prove; all processes are read only for the others. `needsPort` determines for which services
 * running is not enough. Default: all.
 */
export function observeOwners(
  records: readonly ServiceRecord[],
  needsPort: (record: ServiceRecord) => boolean = () => true,
): readonly OwnedPort[] {
  const proven = portOwners(observeRecordedTrees(records)).filter(
    ({ record, owner }) => owner.kind === 'own' || !needsPort(record),
  );
  const known = new Set(proven.map(({ record }) => record));
  const others = portOwners(observeServices(records.filter((record) => !known.has(record))));
  const found = new Map([...proven, ...others].map((each) => [each.record, each]));
  return records.flatMap((record) => found.get(record) ?? []);
}

/**
 * The owners of their ports. A service's own listener counts, even if another process listens on
 * another address of the same port.
 */
function portOwners(observed: readonly Observed[]): readonly OwnedPort[] {
  const allPids = observed.flatMap(({ pids }) => pids);
  const held = heldBy(
    allPids,
    observed.map(({ record }) => record.port),
  );
  const own = observed.map(({ record, pids }) =>
    held.find(({ port, pid }) => port === record.port && pids.includes(pid)),
  );
  const others = observed.filter((_, index) => own[index] === undefined);
  const holders = portHolders(
    others.map(({ record }) => record.port),
    allPids,
  );
  const ownerOf = ({ record, pids }: Observed, known: PortHolder | undefined): PortOwner => {
    if (known !== undefined) return { kind: 'own', holder: known };
    const all = holders.filter(({ port }) => port === record.port);
    // The first search ends with the first socket of a port, which may be that of another service.
    const mine = all.find(({ pid }) => pid !== undefined && pids.includes(pid));
    if (mine !== undefined) return { kind: 'own', holder: mine };
    const [stranger] = all;
    return stranger === undefined ? { kind: 'nobody' } : { kind: 'stranger', holder: stranger };
  };
  return observed.map((each, index) => ({ ...each, owner: ownerOf(each, own[index]) }));
}
