import { isObject } from '../shared/is-object.ts';
import { withFileContext, readText } from './change-file.ts';
import { entriesOf, isServerEntry, parseText } from './edit.ts';
import type { Host, Scope, HostEnvironment } from './host.ts';
import { findLocation, type HostLocation } from './location.ts';

/** A server in a host's file. */
export interface HostServer {
  readonly location: HostLocation;
  readonly name: string;
  /** The entry, in the keys of the host. */
  readonly value: unknown;
}

/** All servers that a host has, in one scope or in both. Throws if one of its files cannot be read. */
export function readServers(host: Host, where: HostEnvironment, scope?: Scope): HostServer[] {
  return (['user', 'project'] as const)
    .filter((each) => scope === undefined || scope === each)
    .flatMap((each) => {
      const location = findLocation(host, each, where);
      const text = location && readText(location.file);
      if (location === undefined || text === undefined) return [];
      return withFileContext(location.file, () => [
        ...serversAt(location, text),
        ...localPlaces(location, text).flatMap((local) => serversAt(local, text)),
      ]);
    });
}

function serversAt(location: HostLocation, text: string): HostServer[] {
  return [...entriesOf(text, location)]
    .filter(([, value]) => isServerEntry(value))
    .map(([name, value]) => ({ location, name, value }));
}

/** Claude Code also stores servers for single projects in the user's file; `claude mcp add` puts them there. */
function localPlaces(location: HostLocation, text: string): HostLocation[] {
  if (location.host.name !== 'claude-code' || location.scope !== 'user') return [];
  const document = parseText(text, location);
  const projects = isObject(document) && isObject(document.projects) ? Object.keys(document.projects) : [];
  return projects.map((project) => ({
    ...location,
    scope: 'local',
    keyPath: ['projects', project, ...location.keyPath],
    project,
  }));
}
