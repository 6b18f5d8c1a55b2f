import { pruneWorktrees } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { showProgress } from '../progress.ts';

export const prune: YardCommand = {
  about: [
    'For worktrees whose directory was deleted by hand: lets git and Switchyard forget them. Nothing that exists is ' +
      'deleted and nothing is stopped; services that still run there are named.',
  ],
  flags: [],
  examples: [
    ['$0 list', 'which are missing'],
    ['$0 prune', 'and away with them'],
  ],
  run: (_given, place) =>
    place.inYard(async (yard) => {
      const progress = showProgress(place);
      try {
        return actionOutcome(await pruneWorktrees(yard, { onWait: progress.onWait }));
      } finally {
        progress.end();
      }
    }),
};
