import type { ProjectConfig } from '../config/definition.ts';
import { DEFAULT_PORTS, DEFAULT_PROXY } from '../config/read.ts';
import type { ProjectRecord } from './records.ts';

/**
 * What is known about a project from the records alone, if its file is unreadable: enough to show and stop its
 * services, but no services to start.
 */
export function recordedConfig(record: ProjectRecord): ProjectConfig {
  const { root, config, name, slug, local_name } = record;
  return {
    root,
    file: config,
    name,
    slug,
    writtenName: local_name?.written ?? name,
    worktreeRoot: undefined,
    env: { link: [], copy: [] },
    proxy: { ...DEFAULT_PROXY, port: proxyPort(record) },
    ports: DEFAULT_PORTS,
    services: [],
    profiles: [],
    warnings: [],
  };
}

/** Its services know the port. */
function proxyPort({ services }: ProjectRecord): number {
  const [service] = Object.values(services);
  const port = service !== undefined && URL.canParse(service.url) ? Number(new URL(service.url).port) : 0;
  return port === 0 ? DEFAULT_PROXY.port : port;
}
