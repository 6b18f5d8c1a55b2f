import { pruneProjects, pruneWorktrees } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { showProgress } from '../progress.ts';

export const yardPruneCommand: YardCommand = {
  about: [
    'For worktrees whose directory was deleted by hand: lets git and Switchyard forget them. Nothing that exists is ' +
      'deleted and nothing is stopped; services that still run there are named.',
    'With --all: the same for projects whose directory was deleted, from anywhere.',
  ],
  flags: [{ name: 'all', summary: 'forget projects whose directory is gone' }],
  examples: [
    ['$0 list', 'which are missing'],
    ['$0 prune', 'and away with them'],
    ['$0 prune --all', 'projects that were deleted'],
  ],
  async run({ flags }, invocation) {
    const progress = showProgress(invocation);
    const { onWait } = progress;
    try {
      if (flags.has('all')) return actionOutcome(await pruneProjects(invocation.env, { onWait }));
      return await invocation.inYard(async (yard) => actionOutcome(await pruneWorktrees(yard, { onWait })));
    } finally {
      progress.end();
    }
  },
};
