import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { checkoutOf, headOf, prefixOf } from '../git/repository.ts';
import { slug } from '../names.ts';
import { branchOfRecord, currentWorktree } from '../state/current-worktree.ts';
import { worktreeOf } from '../state/home.ts';
import { projectRecord, type YardContext } from './context.ts';

/** A branch and the directory in which its services run. */
export interface BranchLocation {
  readonly branch: string;
  readonly slug: string;
  /** May not exist, if it was not created yet or was deleted. */
  readonly worktree: string;
  /** Whether it is in the records; the project's own checkout is not, nor are worktrees made by other tools. */
  readonly registered: boolean;
}

/**
 * Locates a branch by name or slug. Without one: the current worktree, otherwise the project itself, which counts as
 * the worktree of the branch that is checked out there.
 */
export async function resolveBranch(context: YardContext, branch?: string): Promise<BranchLocation> {
  const { home, config } = context;
  const project = projectRecord(context);
  const here = currentWorktree(context, project);
  const at = (location: { branch: string; path: string }, registered: boolean): BranchLocation => ({
    branch: location.branch,
    slug: slug(location.branch),
    worktree: join(location.path, prefixOf(config.root)),
    registered,
  });
  if (branch === undefined) return here === undefined ? ownLocation(context) : at(here, here.registered);

  const wanted = slug(branch);
  for (const record of Object.values(project?.worktrees ?? {})) {
    const location = { ...record, branch: branchOfRecord(record, project) };
    if (slug(location.branch) === wanted && existsSync(record.path)) return at(location, true);
  }
  if (here !== undefined && slug(here.branch) === wanted) return at(here, here.registered);
  const own = await ownLocation(context);
  if (own.slug === wanted) return own;

  const { listWorktrees } = await import('./list-worktrees.ts');
  const views = (await listWorktrees(context)).filter((view) => view.slug === wanted);
  const found = views.find((view) => view.branch === branch) ?? views[0];
  if (found !== undefined) return at(found, found.adopted !== true);
  // Using the current directory for another branch would start its code under a false name.
  if (here !== undefined) throw notHere(branch, here.branch);
  return at({ branch, path: worktreeOf(home, config, branch) }, false);
}

/** The slug of the branch that a command is limited to; undefined means all. */
export function scopeBranch(context: YardContext, branch?: string): string | undefined {
  const scoped = branch ?? currentWorktree(context, projectRecord(context))?.branch;
  return scoped === undefined ? undefined : slug(scoped);
}

/** The project itself. Without git, its only branch is called `current`. */
async function ownLocation({ config, env }: YardContext): Promise<BranchLocation> {
  const checkout = checkoutOf(config.root);
  const head = checkout === undefined ? undefined : headOf(checkout);
  let branch = head?.branch ?? head?.commit?.slice(0, 7);
  if (branch === undefined && checkout !== undefined) {
    const { currentBranch, gitIn } = await import('../git/git.ts');
    branch = await currentBranch(gitIn(config.root, env));
  }
  branch ??= 'current';
  return { branch, slug: slug(branch), worktree: config.root, registered: false };
}

function notHere(branch: string, here: string): SwitchboardError {
  return new SwitchboardError(
    'NO_WORKTREE',
    `No worktree found for branch "${branch}"; this directory is the worktree of "${here}".`,
    {
      hint:
        `If "${branch}" is a service, name the branch too: \`switchyard up --branch ${shellWord(here)} ${shellWord(branch)}\`. ` +
        `If it is a branch, run \`switchyard create ${shellWord(branch)}\` first.`,
    },
  );
}
