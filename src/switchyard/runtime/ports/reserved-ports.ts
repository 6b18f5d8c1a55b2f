import type { ProjectConfig } from '../../records/config/definition.ts';
import type { State } from '../../records/state/records.ts';

/**
 * Ports that belong to something, whether it listens at the moment or not: those of services and checkouts of all
 * projects, the canonical ports of running projects and this one, and the proxies.
 */
export function takenPorts(
  state: State,
  config: ProjectConfig,
  /** Keys of services of this project whose own ports do not count, because they are about to be restarted. */
  except: ReadonlySet<string>,
): ReadonlySet<number> {
  const taken = new Set<number>([config.proxy.port, ...Object.keys(state.proxies).map(Number)]);
  for (const { port } of config.services) if (port !== undefined) taken.add(port);
  for (const project of Object.values(state.projects)) {
    for (const [key, { port, desired_port }] of Object.entries(project.services)) {
      if (desired_port !== null) taken.add(desired_port);
      if (project.root !== config.root || !except.has(key)) taken.add(port);
    }
    for (const { listen_port } of Object.values(project.checkouts)) taken.add(listen_port);
  }
  return taken;
}
