import { existsSync, readdirSync, statSync } from 'node:fs';
import { SwitchboardError } from '../shared/errors.ts';
import type { Container } from './container.ts';
import type { Host, Scope, HostEnvironment } from './host.ts';

/** One location in which a host stores servers: a file, and a position in it. */
export interface HostLocation extends Container {
  readonly host: Host;
  /** `local` is what Claude Code stores for one project in the user's file. */
  readonly scope: Scope | 'local';
  readonly file: string;
  /** The directory that relative paths of its servers are relative to; undefined if it is not for a project. */
  readonly project: string | undefined;
}

/** Where a host stores the servers of a scope. Throws USAGE if it has no such file. */
export function locationOf(host: Host, scope: Scope, where: HostEnvironment): HostLocation {
  const location = findLocation(host, scope, where);
  if (location !== undefined) return location;
  throw new SwitchboardError('USAGE', `${host.title} has no configuration file per project.`, {
    hint: `Omit --scope; its servers are the same everywhere.`,
  });
}

/** Like locationOf, but undefined if the host has no such file. */
export function findLocation(host: Host, scope: Scope, where: HostEnvironment): HostLocation | undefined {
  const files = host.files[scope]?.(where) ?? [];
  const file = files.find((each) => existsSync(each)) ?? files[0];
  if (file === undefined) return undefined;
  return {
    host,
    scope,
    file,
    format: host.format,
    keyPath: host.keyPath,
    ...(host.allowList === undefined ? {} : { allowList: host.allowList }),
    project: scope === 'project' ? where.cwd : undefined,
  };
}

/** Whether the servers of both locations are in the same part of the same file. */
export function isSameLocation(one: HostLocation, other: HostLocation): boolean {
  return one.file === other.file && one.keyPath.join('\0') === other.keyPath.join('\0');
}

/** Whether there are traces of the host on this machine. */
export function isPresent(host: Host, where: HostEnvironment): boolean {
  return [...host.traces(where), ...host.files.user(where)].some(isTrace);
}

/** An empty directory does not count: we may have created it for a file that has since been deleted. */
function isTrace(path: string): boolean {
  try {
    return !statSync(path).isDirectory() || readdirSync(path).length > 0;
  } catch {
    return false;
  }
}
