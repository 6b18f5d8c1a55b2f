import { ownHolders, portHolders, type PortHolder } from '../../process/index.ts';
import type { ServiceRecord } from '../state/records.ts';
import { observeServices, type Observed } from './observe.ts';

/** What listens on the port of a service: one of its own processes, another process, or nothing. */
export type PortOwner =
  | { readonly kind: 'own'; readonly holder: PortHolder }
  | { readonly kind: 'stranger'; readonly holder: PortHolder }
  | { readonly kind: 'nobody' };

/** Looks up the owners of ports in the kernel, several at a time. */
export interface OwnerBatch {
  /** Each caller enters before its first lookup, and leaves after its last. */
  enter(): void;
  leave(): void;
  ownerOf(record: ServiceRecord): Promise<PortOwner>;
  /** The number of callers that have entered and not left. */
  readonly present: number;
}

/** How long a lookup waits for others, in milliseconds. */
const BATCH_MS = 250;

/**
 * Finding the owner of a port reads all processes and sockets of the system. Services that come up at the same time
 * share one lookup instead of slowing each other down.
 */
export function createOwnerBatch(): OwnerBatch {
  let present = 0;
  let waiting: { readonly record: ServiceRecord; readonly resolve: (owner: PortOwner) => void }[] = [];
  let timer: NodeJS.Timeout | undefined;

  const resolveBatch = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    const owners = portOwners(observeServices(batch.map(({ record }) => record)));
    batch.forEach(({ resolve }, index) => resolve(owners[index]!));
  };
  const resolveIfComplete = (): void => {
    if (waiting.length > 0 && waiting.length >= present) resolveBatch();
  };

  return {
    get present() {
      return present;
    },
    enter() {
      present++;
    },
    leave() {
      present--;
      resolveIfComplete();
    },
    ownerOf: (record) =>
      new Promise((resolve) => {
        waiting.push({ record, resolve });
        timer ??= setTimeout(resolveBatch, BATCH_MS);
        resolveIfComplete();
      }),
  };
}

/** The owners of their ports, in the same order. Scans all processes only for ports that are not their own. */
export function portOwners(observed: readonly Observed[]): readonly PortOwner[] {
  const alive = observed.filter(({ pids }) => pids.length > 0);
  const own = ownHolders(new Map(alive.map(({ record, pids }) => [record.port, pids])));
  // If two records share a port, one may be of a service that ended long ago.
  const ownOf = ({ record, pids }: Observed): PortHolder | undefined => {
    const holder = own.get(record.port);
    return holder?.pid !== undefined && pids.includes(holder.pid) ? holder : undefined;
  };
  const others = observed.filter((each) => ownOf(each) === undefined);
  const holders = portHolders(
    others.map(({ record }) => record.port),
    others.flatMap(({ pids }) => pids),
  );
  return observed.map((each) => {
    const holder = ownOf(each);
    return holder === undefined ? ownerAmong(holders, each.record.port, each.pids) : { kind: 'own', holder };
  });
}

/** The service's own listener counts, even if another process listens on another address of the same port. */
function ownerAmong(holders: readonly PortHolder[], port: number, pids: readonly number[]): PortOwner {
  const listening = holders.filter((holder) => holder.port === port);
  const own = listening.find(({ pid }) => pid !== undefined && pids.includes(pid));
  if (own !== undefined) return { kind: 'own', holder: own };
  const [stranger] = listening;
  return stranger === undefined ? { kind: 'nobody' } : { kind: 'stranger', holder: stranger };
}
