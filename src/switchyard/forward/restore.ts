import { observeServices } from '../services/observe.ts';
import type { State } from '../state/records.ts';
import type { Registry } from '../state/registry.ts';
import type { ForwarderLine } from './control-client.ts';
import { listenersOn, tellListener } from '../ports/listeners.ts';
import { sameMapping, type Mapping } from './mapping.ts';
import type { OpenMapping } from './protocol.ts';
import { allCheckouts, mappingOf, noteCheckouts } from './records.ts';

/**
 * Brings the forwarder to what is noted for all projects of the home: it may have been killed, or a service may run on
 * another port since. Checkouts of services that do not run stay noted. To be called under the forwarder's lock.
 */
export async function restoreCheckouts(
  registry: Registry,
  line: ForwarderLine,
  except: ReadonlySet<number>,
): Promise<readonly string[]> {
  const open = new Map((await line.list())?.map((mapping) => [mapping.listen_port, mapping]));
  const due = runningCheckouts(registry.read()).filter((mapping) => {
    const current = open.get(mapping.listen_port);
    return !except.has(mapping.listen_port) && (current === undefined || !sameMapping(current, mapping));
  });
  if (due.length === 0) return [];
  await noteCheckouts(registry, due);
  const messages: string[] = [];
  for (const mapping of due) {
    const { listen_port: port, target_port, service, branch } = mapping;
    const answer = await line.map(mapping);
    const text = `${service} of ${branch}: localhost:${port} -> :${target_port}`;
    if (answer?.ok === true) messages.push(`restored ${text}`);
    else messages.push(`could not restore ${text}; ${whoHas(port)}`);
  }
  return messages;
}

/** Writes down what the forwarder of this home does and the records have lost. To be called under its lock. */
export async function noteUnrecorded(registry: Registry, open: readonly OpenMapping[]): Promise<void> {
  const known = new Set(allCheckouts(registry.read()).map((checkout) => checkout.listen_port));
  const unknown = open.filter((mapping) => !known.has(mapping.listen_port));
  if (unknown.length > 0) await noteCheckouts(registry, unknown);
}

/** What stands between us and a port. */
export function whoHas(port: number): string {
  const found = listenersOn([port]).get(port) ?? [];
  if (found.length === 0) return 'the forwarder could not open the port';
  return `${[...new Set(found.map(tellListener))].join(' and ')} owns it`;
}

function runningCheckouts(state: State): readonly Mapping[] {
  const checkedOut = Object.values(state.projects).flatMap(({ checkouts, services }) =>
    Object.entries(checkouts).flatMap(([key, { listen_port }]) => {
      const service = services[key];
      return service === undefined ? [] : [{ service, listen_port }];
    }),
  );
  const observed = observeServices(checkedOut.map(({ service }) => service));
  return checkedOut
    .filter((_, at) => observed[at]?.status === 'running')
    .map(({ service, listen_port }) => mappingOf(service, listen_port));
}
