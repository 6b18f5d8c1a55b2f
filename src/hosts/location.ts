import { existsSync, readdirSync, statSync } from 'node:fs';
import { SwitchboardError } from '../shared/errors.ts';
import type { Container } from './container.ts';
import type { Host, Scope, HostEnvironment } from './host.ts';

/** One location in which a host keeps servers: a file, and where in it. */
export interface HostLocation extends Container {
  readonly host: Host;
  /** `local` is what Claude Code keeps for one project in the user's own file. */
  readonly scope: Scope | 'local';
  readonly file: string;
  /** The directory that relative paths of its servers are relative to; undefined where no project is meant. */
  readonly project: string | undefined;
}

/** Where a host keeps the servers of a scope. Throws USAGE where it has no such file. */
export function locationOf(host: Host, scope: Scope, where: HostEnvironment): HostLocation {
  const location = findLocation(host, scope, where);
  if (location !== undefined) return location;
  throw new SwitchboardError('USAGE', `${host.title} has no configuration file per project.`, {
    hint: `Omit --scope; its servers are the same everywhere.`,
  });
}

/** The same; undefined where it has no such file. */
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

/** Whether two servers are side by side in the same part of the same file. */
export function isSameLocation(one: HostLocation, other: HostLocation): boolean {
  return one.file === other.file && one.keyPath.join('\0') === other.keyPath.join('\0');
}

/** Whether the host has left traces on this machine. */
export function isPresent(host: Host, where: HostEnvironment): boolean {
  return [...host.traces(where), ...host.files.user(where)].some(isTrace);
}

/** An empty directory is none: we may have made it ourselves, for a file that is gone again. */
function isTrace(path: string): boolean {
  try {
    return !statSync(path).isDirectory() || readdirSync(path).length > 0;
  } catch {
    return false;
  }
}
