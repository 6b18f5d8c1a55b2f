import { existsSync } from 'node:fs';
import {
  convertServer,
  differences,
  findLocation,
  HOSTS,
  isNearDuplicate,
  isPresent,
  isSameLocation,
  readServers,
  type HostServer,
  type ConvertedEntry,
  type HostLocation,
  type HostEnvironment,
} from '../../../../hosts/index.ts';
import { expectedError, type SwitchboardError } from '../../../../shared/errors.ts';
import { isOurs } from '../host-entries.ts';
import { levelOf } from '../import/import-config.ts';

/** A server as offered to the user: once, however many hosts have it. */
export interface ImportableServer {
  readonly name: string;
  /** Whose it is: the user's, or that of everybody who works on this project. */
  readonly level: 'user' | 'project';
  /** The variants of the hosts, the preferred one first. */
  readonly variants: readonly [EntryVariant, ...EntryVariant[]];
  /** The keys in which the variants differ. */
  readonly differs: readonly string[];
}

export interface EntryVariant {
  readonly server: HostServer;
  readonly entry: ConvertedEntry;
}

/** A file in which our entry can be written. */
export interface HostFile {
  readonly location: HostLocation;
  /** The servers in it that are not ours. */
  readonly servers: readonly HostServer[];
  /** The name of our entry in it; undefined if there is none. */
  readonly ours: string | undefined;
}

/** What was found on this machine. */
export interface FoundServers {
  readonly importable: readonly ImportableServer[];
  /** Servers that Switchboard cannot run, and why. */
  readonly unusable: readonly { readonly server: HostServer; readonly why: string }[];
  /** The user's files, one for each host on this machine. */
  readonly hosts: readonly HostFile[];
  /** Existing files of this project, which everybody who works on it has. */
  readonly teamFiles: readonly HostFile[];
  /** Files that cannot be read. */
  readonly problems: readonly SwitchboardError[];
}

/** Reads the servers of all hosts, and groups near-duplicates. */
export function findServers(where: HostEnvironment): FoundServers {
  const problems: SwitchboardError[] = [];
  const [hosts, teamFiles]: [HostFile[], HostFile[]] = [[], []];
  for (const host of HOSTS) {
    for (const scope of ['user', 'project'] as const) {
      const location = findLocation(host, scope, where);
      if (location === undefined) continue;
      if (scope === 'user' ? !isPresent(host, where) : !existsSync(location.file)) continue;
      try {
        const all = readServers(host, where, scope);
        const file = {
          location,
          servers: all.filter(({ value }) => !isOurs(value)),
          ours: all.find((each) => each.location.scope !== 'local' && isOurs(each.value))?.name,
        };
        (scope === 'user' ? hosts : teamFiles).push(file);
      } catch (error) {
        problems.push(expectedError(error));
      }
    }
  }
  const servers = [...hosts, ...teamFiles].flatMap((file) => file.servers);
  return { ...importableServers(servers, where), hosts, teamFiles, problems };
}

/** The servers of hosts, each offered once. */
export function importableServers(
  servers: readonly HostServer[],
  where: HostEnvironment,
): Pick<FoundServers, 'importable' | 'unusable'> {
  const unusable: { server: HostServer; why: string }[] = [];
  const groups: [EntryVariant, ...EntryVariant[]][] = [];
  for (const server of servers) {
    const converted = convertServer(server, where);
    if (converted.kind === 'unusable') {
      unusable.push({ server, why: converted.why });
      continue;
    }
    const variant = { server, entry: converted.entry };
    const group = groups.find((variants) => variants.every((each) => belongTogether(each, variant)));
    if (group === undefined) groups.push([variant]);
    else group.push(variant);
  }
  return { importable: groups.map((variants) => offerOf(variants, where)), unusable };
}

/** Whether it is one of the user's own servers and is used here: everywhere, or in this project. */
export function isOwnHere({ variants }: ImportableServer, { cwd }: HostEnvironment): boolean {
  return variants.some(
    ({ server: { location } }) =>
      location.scope === 'user' || (location.scope === 'local' && location.project === cwd),
  );
}

function belongTogether(one: EntryVariant, other: EntryVariant): boolean {
  return (
    // A host that has a program twice has it twice on purpose.
    !isSameLocation(one.server.location, other.server.location) &&
    levelOf(one.server) === levelOf(other.server) &&
    isNearDuplicate(
      { name: one.server.name, entry: one.entry },
      { name: other.server.name, entry: other.entry },
    )
  );
}

function offerOf(variants: [EntryVariant, ...EntryVariant[]], { env }: HostEnvironment): ImportableServer {
  // Least preferred is a disabled one, then one whose variables are not set, then one for a single project.
  const rank = ({ server, entry }: EntryVariant): number =>
    (entry.disabled === true ? 4 : 0) +
    (needsUnset(entry, env) ? 2 : 0) +
    (server.location.scope === 'local' ? 1 : 0);
  const [first, ...rest] = variants.toSorted((a, b) => rank(a) - rank(b)) as [
    EntryVariant,
    ...EntryVariant[],
  ];
  const differs = new Set(rest.flatMap((each) => differences(first.entry, each.entry)));
  return {
    name: first.server.name,
    level: levelOf(first.server),
    variants: [first, ...rest],
    differs: [...differs],
  };
}

function needsUnset(entry: ConvertedEntry, env: HostEnvironment['env']): boolean {
  const references = JSON.stringify(entry).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g);
  return [...references].some(([, name = '']) => env[name] === undefined);
}
