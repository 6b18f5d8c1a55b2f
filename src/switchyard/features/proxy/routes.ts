import { statSync } from 'node:fs';
import { readConfig } from '../../records/config/read.ts';
import { slug } from '../../records/names.ts';
import type { ServiceRecord, State } from '../../records/state/records.ts';
import type { Registry } from '../../records/state/registry.ts';

/** Maps host names to services. */
export interface Routes {
  /** By a host name from `hostOf`. */
  find(host: string): ServiceRecord | undefined;
  /** All of them, by host name. */
  all(): readonly ServiceRecord[];
  /** The service that would have this name, according to the records. */
  expected(host: string): ExpectedService | undefined;
  /** Whether the host is below one of our domains, as opposed to a foreign name that points to this machine. */
  isOwn(host: string): boolean;
}

export interface ExpectedService {
  readonly service: string;
  readonly branch: string;
  readonly root: string;
  /** The services of the project; undefined if its file cannot be read. */
  readonly among: readonly string[] | undefined;
}

/** Reads the records again whenever their file has changed; a check takes some microseconds. */
export function openRoutes(registry: Registry): Routes {
  let seen: string | undefined;
  let state!: State;
  let byHost: ReadonlyMap<string, ServiceRecord> = new Map();

  const current = (): ReadonlyMap<string, ServiceRecord> => {
    const stat = statSync(registry.home.stateFile, { bigint: true, throwIfNoEntry: false });
    const now = stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
    if (now !== seen) {
      state = registry.read();
      byHost = tableOf(state);
      seen = now;
    }
    return byHost;
  };

  return {
    find: (host) => current().get(host),
    all: () => [...current().values()].sort((a, b) => a.hostname.localeCompare(b.hostname)),
    expected(host) {
      current();
      return expectedService(state, host);
    },
    isOwn(host) {
      if (/^(127\.0\.0\.1|\[::1\]|localhost|.+\.localhost)$/.test(host)) return true;
      // Our host names are service.branch.project.tld.
      return [...current().keys()].some((own) => host.endsWith(`.${own.split('.').slice(3).join('.')}`));
    },
  };
}

/**
 * Which service responds at the address of a service, if it is another one. Project names are unique, but services
 * started by an earlier version keep running as they are.
 */
export function answersInstead(state: State, record: ServiceRecord): string | undefined {
  const found = tableOf(state).get(record.hostname.toLowerCase());
  if (found === undefined || found.project_root === record.project_root) return undefined;
  return `serves ${found.service} of ${found.branch} in ${found.project_root}`;
}

/** If two services have the same name, the one started last responds. */
function tableOf(state: State): ReadonlyMap<string, ServiceRecord> {
  const services = Object.values(state.projects).flatMap((project) => Object.values(project.services));
  services.sort((a, b) => a.started_at.localeCompare(b.started_at));
  return new Map(services.map((service) => [service.hostname.toLowerCase(), service]));
}

function expectedService(state: State, host: string): ExpectedService | undefined {
  const [service, branch, name] = host.split('.');
  if (service === undefined || branch === undefined) return undefined;
  const project = Object.values(state.projects).find((each) => slug(each.name) === name);
  if (project === undefined) return undefined;
  const { root, config, worktrees } = project;
  return { service, branch: worktrees[branch]?.branch ?? branch, root, among: servicesOf(config) };
}

function servicesOf(config: string): readonly string[] | undefined {
  try {
    return readConfig(config).services.map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/** The name in a Host header, without its port and trailing dot. Undefined if it is not a name. */
export function hostOf(header: string | undefined): string | undefined {
  const name = /^((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])\.?(?::\d{1,5})?$/i.exec(header ?? '')?.[1];
  return name?.toLowerCase();
}
