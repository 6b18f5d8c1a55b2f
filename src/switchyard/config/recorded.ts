import type { ProjectRecord } from '../state/records.ts';
import type { ProjectConfig } from './definition.ts';
import { DEFAULT_PORTS, DEFAULT_PROXY } from './read.ts';

/**
 * What the records alone know of a project whose file cannot be read: enough to show and to stop what runs. It has no
 * services to start.
 */
export function recordedConfig({ root, config, name, slug, local_name }: ProjectRecord): ProjectConfig {
  return {
    root,
    file: config,
    name,
    slug,
    writtenName: local_name?.written ?? name,
    worktreeRoot: undefined,
    env: { link: [], copy: [] },
    proxy: DEFAULT_PROXY,
    ports: DEFAULT_PORTS,
    services: [],
    profiles: [],
    warnings: [],
  };
}
