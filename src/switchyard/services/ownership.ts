import { ownHolders, portHolders, type PortHolder } from '../../process/index.ts';
import type { ServiceRecord } from '../state/records.ts';
import { observeServices } from './observe.ts';

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
    const owners = portOwners(batch.map(({ record }) => record));
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

function portOwners(records: readonly ServiceRecord[]): readonly PortOwner[] {
  const observed = observeServices(records);
  const own = ownHolders(new Map(observed.map(({ record, pids }) => [record.port, pids])));
  const others = observed.filter(({ record }) => !own.has(record.port));
  const holders = portHolders(
    others.map(({ record }) => record.port),
    others.flatMap(({ pids }) => pids),
  );
  return observed.map(({ record, pids }) => {
    const holder = own.get(record.port);
    return holder === undefined ? ownerAmong(holders, record.port, pids) : { kind: 'own', holder };
  });
}

/** One's own listener counts, even when somebody else listens on another address of the same port. */
export function ownerAmong(holders: readonly PortHolder[], port: number, pids: readonly number[]): PortOwner {
  const listening = holders.filter((holder) => holder.port === port);
  const own = listening.find(({ pid }) => pid !== undefined && pids.includes(pid));
  if (own !== undefined) return { kind: 'own', holder: own };
  const [stranger] = listening;
  return stranger === undefined ? { kind: 'nobody' } : { kind: 'stranger', holder: stranger };
}
