import { explaining, readText } from './change-file.ts';
import { isTable } from './container.ts';
import { entriesOf, isServer, parseText } from './edit.ts';
import type { Host, Scope, Surroundings } from './host.ts';
import { findPlace, type Place } from './place.ts';

/** A server as a host has it. */
export interface HostServer {
  readonly place: Place;
  readonly name: string;
  /** The entry, in the words of the host. */
  readonly value: unknown;
}

/** All servers that a host has, of one scope or of both. Throws where one of its files cannot be read. */
export function readServers(host: Host, where: Surroundings, scope?: Scope): HostServer[] {
  return (['user', 'project'] as const)
    .filter((each) => scope === undefined || scope === each)
    .flatMap((each) => {
      const place = findPlace(host, each, where);
      const text = place && readText(place.file);
      if (place === undefined || text === undefined) return [];
      return explaining(place.file, () => [
        ...serversAt(place, text),
        ...localPlaces(place, text).flatMap((local) => serversAt(local, text)),
      ]);
    });
}

function serversAt(place: Place, text: string): HostServer[] {
  return [...entriesOf(text, place)]
    .filter(([, value]) => isServer(value))
    .map(([name, value]) => ({ place, name, value }));
}

/** Claude Code keeps servers for single projects in the user's file, too; it is where `claude mcp add` puts them. */
function localPlaces(place: Place, text: string): Place[] {
  if (place.host.name !== 'claude-code' || place.scope !== 'user') return [];
  const document = parseText(text, place);
  const projects = isTable(document) && isTable(document.projects) ? Object.keys(document.projects) : [];
  return projects.map((project) => ({
    ...place,
    scope: 'local',
    keyPath: ['projects', project, ...place.keyPath],
    project,
  }));
}
