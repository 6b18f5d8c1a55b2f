import {
  findLocation,
  HOSTS,
  isPresent,
  readServers,
  type Scope,
  type HostEnvironment,
} from '../../../hosts/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import { existsSync } from 'node:fs';
import { isOurs } from './host-entries.ts';
import type { Style } from '../../kit/style.ts';
import { table } from '../../kit/table.ts';

/** A file of a host on this machine, and its contents. */
export interface ScannedFile {
  readonly host: string;
  readonly scope: Scope;
  readonly file: string;
  readonly exists: boolean;
  /** Names of the servers in it, without ours. */
  readonly servers: readonly string[];
  /** The names of our entries. */
  readonly ours: readonly string[];
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** The files of all hosts on this machine; those of the project in this directory only if they exist. */
export function scanHosts(where: HostEnvironment): ScannedFile[] {
  return HOSTS.flatMap((host) =>
    (['user', 'project'] as const).flatMap((scope): ScannedFile[] => {
      const location = findLocation(host, scope, where);
      if (location === undefined) return [];
      const exists = existsSync(location.file);
      if (!exists && (scope === 'project' || !isPresent(host, where))) return [];
      const seen = { host: host.name, scope, file: location.file, exists };
      try {
        const servers = readServers(host, where, scope);
        const names = (own: boolean): string[] => [
          ...new Set(servers.filter(({ value }) => isOurs(value) === own).map(({ name }) => name)),
        ];
        return [{ ...seen, servers: names(false), ours: names(true) }];
      } catch (error) {
        return [{ ...seen, servers: [], ours: [], problem: messageOf(error) }];
      }
    }),
  );
}

export function scanText(
  files: readonly ScannedFile[],
  program: string,
  { bold, bad, good, columns }: Style,
): string {
  if (files.length === 0) {
    return (
      `No supported host was found on this machine.\n` +
      `Supported hosts: ${HOSTS.map(({ name }) => name).join(', ')}.\n`
    );
  }
  const rows = files.map(({ host, scope, file, servers, ours, problem }) => [
    host,
    scope,
    ours.length === 0 ? '–' : ours.map(printableLine).join(', '),
    problem === undefined ? listed(servers) : 'cannot be read',
    printableLine(file),
  ]);
  const titles = ['HOST', 'SCOPE', 'ENTRY', 'OTHER SERVERS', 'FILE'];
  const problems = files.flatMap(({ problem }) =>
    problem === undefined ? [] : [bad(printableLine(problem))],
  );
  const next = [
    [`${program} install HOST`, 'add Switchboard to it'],
    [`${program} import`, 'import its servers'],
  ] as const;
  return [
    table(titles, rows, bold, columns),
    ...problems.map((line) => `${line}\n`),
    '\n',
    ...next.map(([line, meaning]) => `  ${good(line.padEnd(24))}  ${meaning}\n`),
  ].join('');
}

/** The most server names in a row. */
const SHOWN = 5;

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, SHOWN).map(printableLine).join(', ');
  return names.length > SHOWN ? `${shown} … (${names.length})` : shown;
}
