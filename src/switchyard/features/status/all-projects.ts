import { existsSync } from 'node:fs';
import { contextOf } from '../../records/project/open-project.ts';
import { homeOf } from '../../records/state/home.ts';
import { openRegistry } from '../../records/state/registry.ts';
import { status, type YardStatus } from './status.ts';

export interface ProjectStatus extends YardStatus {
  readonly name: string;
  readonly root: string;
  readonly config: string;
  /** `missing`: its directory is gone. `unreadable`: its `switchyard.toml` is gone or broken. */
  readonly status: 'ok' | 'missing' | 'unreadable';
  /** The names under which agents reach it. */
  readonly aliases: readonly string[];
}

export interface AllProjects {
  readonly home: string;
  /** Sorted by name. */
  readonly projects: readonly ProjectStatus[];
  /** Problems with the records, as sentences. */
  readonly warnings: readonly string[];
}

/** All projects of this home, with their services. Only reads. */
export async function allProjects(env: NodeJS.ProcessEnv): Promise<AllProjects> {
  const registry = openRegistry(homeOf(env));
  const state = registry.read();
  const projects = Object.values(state.projects).map(async (record): Promise<ProjectStatus> => {
    const { name, root, config } = record;
    const context = contextOf(record, registry, env);
    const aliases = Object.entries(state.project_aliases);
    return {
      name,
      root,
      config,
      status: !existsSync(root) ? 'missing' : context.problem === undefined ? 'ok' : 'unreadable',
      aliases: aliases.filter(([, leads]) => leads === root).map(([alias]) => alias),
      ...(await status(context, {})),
    };
  });
  const found = await Promise.all(projects);
  found.sort((a, b) => (`${a.name} ${a.root}` < `${b.name} ${b.root}` ? -1 : 1));
  return { home: registry.home.root, projects: found, warnings: registry.warnings };
}
