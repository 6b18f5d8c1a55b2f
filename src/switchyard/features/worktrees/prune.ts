import { shellWord } from '../../../shared/shell-word.ts';
import { gitIn } from '../../records/git/git.ts';
import { checkoutOf } from '../../records/git/repository.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import { listWorktrees } from '../../records/project/list-worktrees.ts';
import { withProjectLock, type WaitOptions } from '../../records/state/project-lock.ts';
import { forgetDeletedWorktree } from '../../records/state/project-record.ts';
import { runningAmong } from '../../runtime/processes/observe.ts';

export interface PrunedWorktrees {
  readonly ok: true;
  readonly action: 'prune';
  /** The branches whose worktrees were forgotten. */
  readonly pruned: readonly string[];
  readonly messages: readonly string[];
}

/** Forgets worktrees whose directory is gone. Deletes nothing and stops no process; reports what still runs there. */
export async function pruneWorktrees(
  context: YardContext,
  options: WaitOptions = {},
): Promise<PrunedWorktrees> {
  await context.registry.repair();
  return withProjectLock(context, { ...options, what: 'prune' }, () => pruneAlone(context));
}

async function pruneAlone(context: YardContext): Promise<PrunedWorktrees> {
  const { config, env, registry } = context;
  const missing = (await listWorktrees(context)).filter((each) => each.missing === true);
  const gone = missing.filter((each) => each.locked !== true);
  const paths = new Set(gone.map((each) => each.path));
  if (gone.length > 0) {
    if (checkoutOf(config.root) !== undefined) await gitIn(config.root, env)(['worktree', 'prune']);
    await registry.change((state) => {
      for (const path of paths) forgetDeletedWorktree(state, path);
    });
  }
  const running = runningAmong(
    recordedServices(context).filter(({ branch_slug }) => gone.some((each) => each.slug === branch_slug)),
  ).map(
    ({ service, branch }) =>
      `${service} of ${branch} still runs; stop it with \`switchyard down --branch ${shellWord(branch)}\``,
  );
  const messages = [
    ...gone.map(({ branch, path }) => `forgot the worktree of ${branch}; ${path} is gone`),
    ...missing
      .filter((each) => each.locked === true)
      .map(({ branch, path }) => `kept the worktree of ${branch}, which is locked; ${path} does not exist`),
    ...running,
  ];
  return {
    ok: true,
    action: 'prune',
    pruned: gone.map(({ branch }) => branch),
    messages: messages.length === 0 ? ['nothing to prune'] : messages,
  };
}
