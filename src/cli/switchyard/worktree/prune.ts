import { pruneProjects, pruneWorktrees } from '../../../switchyard/index.ts';
import { actionOutcome, type YardCommand } from '../invocation.ts';
import { withProgress } from '../progress.ts';

export const yardPruneCommand: YardCommand = {
  about: [
    'Makes git and Switchyard forget worktrees whose directory was deleted by hand. Nothing that exists is ' +
      'deleted and nothing is stopped; services that still run there are listed.',
    'With --all: the same for projects whose directory was deleted, from any directory.',
  ],
  flags: [{ name: 'all', summary: 'forget projects whose directory is gone' }],
  examples: [
    ['$0 list', 'see which are missing'],
    ['$0 prune', 'forget them'],
    ['$0 prune --all', 'projects that were deleted'],
  ],
  run: ({ flags }, invocation) =>
    withProgress(invocation, async ({ onEvent }) =>
      flags.has('all')
        ? actionOutcome(await pruneProjects(invocation.env, { onEvent }))
        : invocation.inYard(async (yard) => actionOutcome(await pruneWorktrees(yard, { onEvent }))),
    ),
};
