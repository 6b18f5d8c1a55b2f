import { existsSync } from 'node:fs';
import { shellWord } from '../../../shared/shell-word.ts';
import { contextOf } from '../../records/project/open-project.ts';
import { homeOf } from '../../records/state/home.ts';
import { withProjectLock, type WaitOptions } from '../../records/state/project-lock.ts';
import { openRegistry, type Registry } from '../../records/state/registry.ts';
import { observeServices } from '../../runtime/processes/observe.ts';

export interface PrunedProjects {
  readonly ok: true;
  readonly action: 'prune';
  /** The roots of the projects that were forgotten. */
  readonly pruned: readonly string[];
  readonly messages: readonly string[];
}

/**
 * Forgets projects whose directory is gone and that have no running services. Deletes no files and stops no processes.
 */
export async function pruneProjects(
  env: NodeJS.ProcessEnv,
  options: WaitOptions = {},
): Promise<PrunedProjects> {
  const registry = openRegistry(homeOf(env));
  await registry.repair();
  const gone = Object.keys(registry.read().projects).filter((root) => !existsSync(root));
  const pruned: string[] = [];
  const messages: string[] = [];
  for (const root of gone) {
    const forget = (): Promise<string | undefined> => forgetProject(registry, root, env);
    const obstacle = await withProjectLock(
      { home: registry.home, config: { root } },
      { ...options, what: 'prune' },
      forget,
    );
    if (obstacle === undefined) pruned.push(root);
    messages.push(obstacle ?? `forgot the project in ${root}, which is gone`);
  }
  const { project_aliases: aliases } = registry.read();
  for (const [alias, root] of Object.entries(aliases)) {
    if (!existsSync(root))
      messages.push(
        `the MCP name ${alias} points to ${root}, which is gone; \`switchyard mcp unregister ${alias}\` removes it`,
      );
  }
  return {
    ok: true,
    action: 'prune',
    pruned,
    messages: messages.length === 0 ? ['nothing to prune'] : messages,
  };
}

/** Returns why the project is kept, or undefined. */
async function forgetProject(
  registry: Registry,
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const record = registry.read().projects[root];
  if (record === undefined) return undefined;
  const alive = observeServices(Object.values(record.services)).filter(({ status }) => status !== 'stale');
  if (alive.length > 0) {
    const names = alive.map(({ record: { service, branch } }) => `${service} of ${branch}`);
    return `kept ${record.name} (${root}) because of running services: ${names.join(', ')}; \`switchyard down --project ${shellWord(record.name)}\` stops them`;
  }
  const keys = Object.keys(record.checkouts);
  if (keys.length > 0) {
    const { dropCheckouts } = await import('../checkout/uncheckout.ts');
    await dropCheckouts(contextOf(record, registry, env), keys);
  }
  await registry.change((state) => Reflect.deleteProperty(state.projects, root));
  return undefined;
}
