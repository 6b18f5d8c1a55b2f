import { ownHolders, portHolders, type PortHolder } from '../../process/index.ts';
import type { ServiceRecord } from '../state/records.ts';
import { observeServices, type Observed } from './observe.ts';

/** Who listens on the port of a service: a process of its own, somebody else, or nobody that the kernel knows of. */
export type PortOwner =
  | { readonly kind: 'own'; readonly holder: PortHolder }
  | { readonly kind: 'stranger'; readonly holder: PortHolder }
  | { readonly kind: 'nobody' };

/** Tells whose ports they are, by the word of the kernel. */
export interface OwnershipJudge {
  /** Whoever is going to ask says so before, and when it will not ask any more. */
  enter(): void;
  leave(): void;
  ask(record: ServiceRecord): Promise<PortOwner>;
  /** How many may still ask. */
  readonly present: number;
}

/** How long one who asks waits for the others, in milliseconds. */
const PATIENCE = 250;

/**
 * To find the owner of a port, all processes and all sockets of the system have to be read. Services that come up at the
 * same time wait for each other for a moment and are judged together, instead of slowing each other down ten times.
 */
export function createOwnershipJudge(): OwnershipJudge {
  let present = 0;
  let waiting: { readonly record: ServiceRecord; readonly resolve: (owner: PortOwner) => void }[] = [];
  let timer: NodeJS.Timeout | undefined;

  const judge = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    const owners = portOwners(observeServices(batch.map(({ record }) => record)));
    batch.forEach(({ resolve }, index) => resolve(owners[index]!));
  };
  const judgeIfComplete = (): void => {
    if (waiting.length > 0 && waiting.length >= present) judge();
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
      judgeIfComplete();
    },
    ask: (record) =>
      new Promise((resolve) => {
        waiting.push({ record, resolve });
        timer ??= setTimeout(judge, PATIENCE);
        judgeIfComplete();
      }),
  };
}

/** Whose ports they are, in the same order. Only where it is not their own, all processes are looked through. */
export function portOwners(observed: readonly Observed[]): readonly PortOwner[] {
  const alive = observed.filter(({ pids }) => pids.length > 0);
  const own = ownHolders(new Map(alive.map(({ record, pids }) => [record.port, pids])));
  // Of two records with one port, one may be of a service that has long ended.
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

/** One's own listener counts, even when somebody else listens on another address of the same port. */
function ownerAmong(holders: readonly PortHolder[], port: number, pids: readonly number[]): PortOwner {
  const listening = holders.filter((holder) => holder.port === port);
  const own = listening.find(({ pid }) => pid !== undefined && pids.includes(pid));
  if (own !== undefined) return { kind: 'own', holder: own };
  const [stranger] = listening;
  return stranger === undefined ? { kind: 'nobody' } : { kind: 'stranger', holder: stranger };
}
