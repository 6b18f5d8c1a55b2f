import { SwitchboardError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { checkoutOf } from '../../records/git/repository.ts';
import { slug } from '../../records/names.ts';
import { isInside } from '../../records/paths.ts';
import type { YardContext } from '../../records/project/context.ts';
import { withProjectLock, type ProjectLockOptions } from '../../records/state/project-lock.ts';
import { observeServices } from '../../runtime/processes/observe.ts';

/**
 * Refuses to delete a directory in which a service of another branch or project runs. Projects of one repository share
 * their worktrees, and another repository may be inside.
 */
export function refuseOccupied(
  { config, registry }: YardContext,
  { path, branch }: { readonly path: string; readonly branch: string },
): void {
  const others = Object.values(registry.read().projects).flatMap(({ name, root, services }) =>
    observeServices(Object.values(services).filter(({ worktree }) => isInside(path, worktree)))
      .filter(({ status }) => status !== 'stale')
      .map(({ record }) => ({ ...record, name, root }))
      .filter((record) => root !== config.root || record.branch_slug !== slug(branch)),
  );
  const [first] = others;
  if (first === undefined) return;
  const descriptions = others.map(
    (each) => `${each.service} of ${each.branch} runs there for ${each.name} (${each.root})`,
  );
  throw new SwitchboardError('WORKTREE_BUSY', `${path} was not removed: ${descriptions.join(', ')}.`, {
    hint: `Stop it first: \`switchyard down --project ${shellWord(first.name)} --branch ${shellWord(first.branch)}\`.`,
  });
}

/** Runs the work while nothing can be started in the worktree, also not for other projects of the same repository. */
export function withAllLocks<T>(
  { home, config, registry }: YardContext,
  path: string,
  options: ProjectLockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const repository = checkoutOf(config.root)?.commonDirectory;
  const sharing = Object.keys(registry.read().projects).filter(
    (root) => isInside(path, root) || checkoutOf(root)?.commonDirectory === repository,
  );
  // Always in the same order, to avoid deadlocks.
  const roots = [...new Set([config.root, ...sharing])].sort();
  return roots.reduceRight(
    (inner, root) => () => withProjectLock({ home, config: { root } }, options, inner),
    work,
  )();
}
