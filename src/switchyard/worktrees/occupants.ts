import { SwitchboardError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/shell-word.ts';
import type { YardContext } from '../context.ts';
import { slug } from '../names.ts';
import { observeServices } from '../services/observe.ts';
import { isInside } from '../state/real-path.ts';
import { withProjectLock, type ProjectLockOptions } from '../state/registry.ts';
import { checkoutOf } from './repository.ts';

/**
 * Refuses to delete a directory in which a service runs that is not the branch's own. Projects of one repository share
 * their worktrees, and there may be a repository of its own inside.
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
  const told = others.map(
    (each) => `${each.service} of ${each.branch} runs there for ${each.name} (${each.root})`,
  );
  throw new SwitchboardError('WORKTREE_BUSY', `${path} was not removed: ${told.join(', ')}.`, {
    hint: `Stop it first: \`switchyard down --project ${shellWord(first.name)} --branch ${shellWord(first.branch)}\`.`,
  });
}

/** Does the work while nobody starts anything in the worktree, be it for another project of the same repository. */
export function withAllLocks<T>(
  { home, config, registry }: YardContext,
  path: string,
  what: string,
  work: () => Promise<T>,
  options: ProjectLockOptions,
): Promise<T> {
  const repository = checkoutOf(config.root)?.commonDirectory;
  const sharing = Object.keys(registry.read().projects).filter(
    (root) => isInside(path, root) || checkoutOf(root)?.commonDirectory === repository,
  );
  // Always in one order: two commands that each have what the other wants would wait for ever.
  const roots = [...new Set([config.root, ...sharing])].sort();
  return roots.reduceRight((inner, root) => () => withProjectLock(home, root, what, inner, options), work)();
}
