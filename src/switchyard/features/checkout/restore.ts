import type { CheckoutRecord, ProjectRecord, State } from '../../records/state/records.ts';
import type { Registry } from '../../records/state/registry.ts';
import { listenersOn } from '../../runtime/ports/listeners.ts';
import { ownerOf } from '../../runtime/ports/port-taken.ts';
import { runningAmong } from '../../runtime/processes/observe.ts';
import type { ForwarderLine } from '../forwarder/control-client.ts';
import { sameMapping, type Mapping, type OpenMapping } from '../forwarder/protocol.ts';
import { allCheckouts, mappingOf, noteCheckouts } from './records.ts';

/**
 * Makes the forwarder match the records of all projects of the home: it may have been killed, or a service may run on
 * another port now. Checkouts of services that do not run stay recorded. Call it under the forwarder's lock.
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
  const isHeld = heldAmong(due.map((mapping) => mapping.listen_port).filter((port) => !open.has(port)));
  await noteCheckouts(registry, due);
  const messages: string[] = [];
  for (const mapping of due) {
    const { listen_port: port, target_port, service, branch } = mapping;
    const answer = isHeld(port) ? undefined : await line.map(mapping);
    const text = `${service} of ${branch}: localhost:${port} -> :${target_port}`;
    if (answer?.ok === true) messages.push(`restored ${text}`);
    else messages.push(`could not restore ${text}; ${ownerOf(port)}`);
  }
  return messages;
}

/** Records what the forwarder of this home does but the records have lost. Call it under its lock. */
export async function noteUnrecorded(registry: Registry, open: readonly OpenMapping[]): Promise<void> {
  const known = new Set(allCheckouts(registry.read()).map((checkout) => checkout.listen_port));
  const unknown = open.filter((mapping) => !known.has(mapping.listen_port));
  if (unknown.length > 0) await noteCheckouts(registry, unknown);
}

/**
 * Which of these ports have a listener. Check before opening them: some systems let us bind a port although another
 * process listens on all addresses.
 */
export function heldAmong(ports: readonly number[]): (port: number) => boolean {
  const found = listenersOn(ports);
  return (port) => (found.get(port) ?? []).length > 0;
}

function runningCheckouts(state: State): readonly Mapping[] {
  return Object.values(state.projects).flatMap((project) =>
    observeRecorded(project).flatMap(({ mapping }) => mapping ?? []),
  );
}

/** The checkouts of a project, each with its intended mapping; undefined if its service does not run. */
export function observeRecorded({
  checkouts,
  services,
}: ProjectRecord): readonly { readonly record: CheckoutRecord; readonly mapping: Mapping | undefined }[] {
  const recorded = Object.entries(checkouts).map(([key, record]) => ({ record, service: services[key] }));
  const running = new Set(runningAmong(recorded.flatMap(({ service }) => service ?? [])));
  return recorded.map(({ record, service }) => ({
    record,
    mapping:
      service === undefined || !running.has(service) ? undefined : mappingOf(service, record.listen_port),
  }));
}
