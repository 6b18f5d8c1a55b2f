import { serviceKey, slug } from '../../records/names.ts';
import {
  timestamp,
  type CheckoutRecord,
  type ServiceRecord,
  type State,
} from '../../records/state/records.ts';
import type { Registry } from '../../records/state/registry.ts';
import { forwarderLog } from '../forwarder/ensure.ts';
import type { Mapping } from '../forwarder/protocol.ts';

/** The mapping of a canonical port to the running service. */
export function mappingOf(service: ServiceRecord, port: number): Mapping {
  return {
    listen_port: port,
    target_host: service.backend_host,
    target_port: service.port,
    project: service.project,
    project_root: service.project_root,
    branch: service.branch,
    service: service.service,
  };
}

/**
 * Records the checkouts before they take effect: whatever happens to us, no open port is unrecorded. A port has one
 * record, no matter which project had it before.
 */
export function noteCheckouts(registry: Registry, mappings: readonly Mapping[]): Promise<void> {
  return registry.change((state) => {
    for (const mapping of mappings) {
      const project = state.projects[mapping.project_root];
      if (project === undefined) continue;
      const replaced = forgetPort(state, mapping.listen_port);
      const before = replaced === undefined ? undefined : branchBefore(replaced, mapping);
      project.checkouts[serviceKey(mapping.branch, mapping.service)] = {
        project: mapping.project,
        project_root: mapping.project_root,
        branch: mapping.branch,
        branch_slug: slug(mapping.branch),
        service: mapping.service,
        listen_host: 'localhost',
        listen_port: mapping.listen_port,
        target_host: mapping.target_host,
        target_port: mapping.target_port,
        ...(before === undefined ? {} : { before }),
        pid: state.forwarder?.pid ?? null,
        log_file: forwarderLog(registry.home),
        started_at: timestamp(),
      };
    }
  });
}

/** Removes the records of these ports; with the last one also that of the forwarder, which then exits on its own. */
export function forgetCheckouts(registry: Registry, ports: readonly number[]): Promise<void> {
  return registry.change((state) => {
    for (const port of ports) forgetPort(state, port);
    if (allCheckouts(state).length === 0) delete state.forwarder;
  });
}

/** The checkouts of all projects. */
export function allCheckouts(state: State): readonly CheckoutRecord[] {
  return Object.values(state.projects).flatMap((project) => Object.values(project.checkouts));
}

function branchBefore(replaced: CheckoutRecord, now: Mapping): string | undefined {
  if (replaced.project_root !== now.project_root || replaced.service !== now.service) return undefined;
  return replaced.branch === now.branch ? replaced.before : replaced.branch;
}

/** Removes and returns the record of a port. */
function forgetPort(state: State, port: number): CheckoutRecord | undefined {
  let found: CheckoutRecord | undefined;
  for (const project of Object.values(state.projects)) {
    for (const [key, checkout] of Object.entries(project.checkouts)) {
      if (checkout.listen_port !== port) continue;
      found = checkout;
      Reflect.deleteProperty(project.checkouts, key);
    }
  }
  return found;
}
