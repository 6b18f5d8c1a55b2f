import { existsSync, readdirSync, statSync } from 'node:fs';
import { SwitchboardError } from '../shared/errors.ts';
import type { Container } from './container.ts';
import type { Host, Scope, Surroundings } from './host.ts';

/** One place in which a host keeps servers: a file, and where in it. */
export interface Place extends Container {
  readonly host: Host;
  /** `local` is what Claude Code keeps for one project in the user's own file. */
  readonly scope: Scope | 'local';
  readonly file: string;
  /** The directory that relative paths of its servers are relative to; undefined where no project is meant. */
  readonly project: string | undefined;
}

/** Where a host keeps the servers of a scope. Throws USAGE where it has no such file. */
export function placeOf(host: Host, scope: Scope, where: Surroundings): Place {
  const place = findPlace(host, scope, where);
  if (place !== undefined) return place;
  throw new SwitchboardError('USAGE', `${host.title} has no file for single projects.`, {
    hint: `Leave out --scope; its servers are the same everywhere.`,
  });
}

/** The same; undefined where it has no such file. */
export function findPlace(host: Host, scope: Scope, where: Surroundings): Place | undefined {
  const files = host.files[scope]?.(where);
  if (files === undefined) return undefined;
  return {
    host,
    scope,
    file: files.find((file) => existsSync(file)) ?? files[0]!,
    format: host.format,
    keyPath: host.keyPath,
    ...(host.allowList === undefined ? {} : { allowList: host.allowList }),
    project: scope === 'project' ? where.cwd : undefined,
  };
}

/** Whether two servers are side by side in the same part of the same file. */
export function isSamePlace(one: Place, other: Place): boolean {
  return one.file === other.file && one.keyPath.join('\0') === other.keyPath.join('\0');
}

/** Whether the host has left traces on this machine. */
export function isPresent(host: Host, where: Surroundings): boolean {
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
