import { pruneProjects, pruneWorktrees } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { showProgress } from '../progress.ts';

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
