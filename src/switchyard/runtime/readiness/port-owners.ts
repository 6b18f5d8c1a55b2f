import { setTimeout as pause } from 'node:timers/promises';
import { heldBy, portHolders, type PortHolder } from '../../../process/index.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { observeServices, type Observed } from '../processes/observe.ts';

/** What listens on the port of a service: one of its own processes, another process, or nothing. */
export type PortOwner =
  | { readonly kind: 'own'; readonly holder: PortHolder }
  | { readonly kind: 'stranger'; readonly holder: PortHolder }
  | { readonly kind: 'nobody' };

/** How long a lookup waits for others, in milliseconds. */
const TOGETHER_MS = 5;

/**
 * Looks up the owner of the port of one service. Every lookup reads all processes and sockets of the system, so services
 * that become ready at about the same time share one.
 */
export function createOwnerLookup(): (record: ServiceRecord) => Promise<PortOwner> {
  let asked: ServiceRecord[] = [];
  let owners: Promise<ReadonlyMap<ServiceRecord, PortOwner>> | undefined;
  const lookUp = async (): Promise<ReadonlyMap<ServiceRecord, PortOwner>> => {
    await pause(TOGETHER_MS);
    const records = asked;
    asked = [];
    owners = undefined;
    const found = portOwners(observeServices(records));
    return new Map(records.map((record, index) => [record, found[index]!]));
  };
  return async (record) => {
    asked.push(record);
    owners ??= lookUp();
    return (await owners).get(record)!;
  };
}

/**
 * The owners of their ports, in the same order. A service's own listener counts, even if another process listens on
 * another address of the same port.
 */
export function portOwners(observed: readonly Observed[]): readonly PortOwner[] {
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
  return observed.map(({ record, pids }, index): PortOwner => {
    const known = own[index];
    if (known !== undefined) return { kind: 'own', holder: known };
    const all = holders.filter(({ port }) => port === record.port);
    // The first search ends with the first socket of a port, which may be that of another service.
    const mine = all.find(({ pid }) => pid !== undefined && pids.includes(pid));
    if (mine !== undefined) return { kind: 'own', holder: mine };
    const [stranger] = all;
    return stranger === undefined ? { kind: 'nobody' } : { kind: 'stranger', holder: stranger };
  });
}
