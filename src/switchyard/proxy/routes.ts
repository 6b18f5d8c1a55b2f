import { statSync } from 'node:fs';
import { readConfig } from '../config/read.ts';
import { slug } from '../names.ts';
import type { ServiceRecord, State } from '../state/records.ts';
import type { Registry } from '../state/registry.ts';

/** Which service a host name means, at this moment. */
export interface Routes {
  /** By a host name from `hostOf`. */
  find(host: string): ServiceRecord | undefined;
  /** All of them, by host name. */
  all(): readonly ServiceRecord[];
  /** Who has that name when it runs, as far as the records tell. */
  expected(host: string): ExpectedService | undefined;
  /** Whether a host is one of ours to talk about, not a name from outside that somebody has pointed at this machine. */
  isOwn(host: string): boolean;
}

export interface ExpectedService {
  readonly service: string;
  readonly branch: string;
  readonly root: string;
  /** The services that the project has; undefined where its file cannot be read. */
  readonly among: readonly string[] | undefined;
}

/** Reads the records again whenever their file is another one; a look at it takes some microseconds. */
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
      // A name of ours is service.branch.project.tld.
      return [...current().keys()].some((own) => host.endsWith(`.${own.split('.').slice(3).join('.')}`));
    },
  };
}

/**
 * Says who answers under the address of a service, where that is not the service itself. Each project has a name of its
 * own; but services that an earlier version started run on as they are.
 */
export function answersInstead(state: State, record: ServiceRecord): string | undefined {
  const found = tableOf(state).get(record.hostname.toLowerCase());
  if (found === undefined || found.project_root === record.project_root) return undefined;
  return `serves ${found.service} of ${found.branch} in ${found.project_root}`;
}

/** Of two services of one name, the one that was started last answers. */
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

/** The name in a Host header, without its port and the dot at its end. Undefined when it is no name. */
export function hostOf(header: string | undefined): string | undefined {
  const name = /^((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])\.?(?::\d{1,5})?$/i.exec(header ?? '')?.[1];
  return name?.toLowerCase();
}
