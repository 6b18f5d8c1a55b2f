import {
  refuseName,
  type Entry,
  type Host,
  type HostServer,
  type HostLocation,
  type Scope,
  type TakeoverPart,
} from '../../../../hosts/index.ts';
import type { PlannedServer } from './import-plan.ts';

/** The parts of one file; there is at least one. */
export type FileTakeover = readonly [TakeoverPart, ...TakeoverPart[]];

export interface TakeoverPlanOptions {
  readonly planned: readonly PlannedServer[];
  /** Entries of ours that hosts have already. */
  readonly ours: readonly HostServer[];
  /** What our entry is called. */
  readonly name: string;
  readonly entryFor: (host: Host, scope: Scope) => Entry;
}

/**
 * What to change in the files of hosts, so that our entry replaces the servers of a configuration. What Claude Code keeps
 * for single projects in the user's own file is covered by the user's entry. A project's file always gets one: others
 * have that file, but not ours.
 */
export function planTakeover({ planned, ours, name, entryFor }: TakeoverPlanOptions): FileTakeover[] {
  const taken = planned.filter(({ state }) => state !== 'unusable').map(({ server }) => server);
  const isCovered = (host: Host): boolean =>
    [...taken, ...ours].some(({ location }) => location.host === host && location.scope === 'user');
  const files = new Map<string, [TakeoverPart, ...TakeoverPart[]]>();
  for (const [location, servers] of byLocation(taken)) {
    refuseName(name, location.host);
    const wanted = location.scope !== 'local' || !isCovered(location.host);
    const part: TakeoverPart = {
      location,
      servers,
      entry: wanted ? entryFor(location.host, location.scope === 'project' ? 'project' : 'user') : undefined,
    };
    const parts = files.get(location.file);
    if (parts === undefined) files.set(location.file, [part]);
    else parts.push(part);
  }
  return [...files.values()];
}

export function byLocation(servers: readonly HostServer[]): Map<HostLocation, Map<string, unknown>> {
  const places = new Map<string, [HostLocation, Map<string, unknown>]>();
  for (const { location, name, value } of servers) {
    const key = JSON.stringify([location.file, location.keyPath]);
    const known = places.get(key) ?? [location, new Map<string, unknown>()];
    known[1].set(name, value);
    places.set(key, known);
  }
  return new Map(places.values());
}
