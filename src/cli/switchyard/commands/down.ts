import { down as stop } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { showProgress } from '../progress.ts';

export const down: YardCommand = {
  about: [
    'In a worktree: the services of its branch. From the root of the repository: those of all branches. Their whole ' +
      'families of processes end, also what npm or a shell has started for them; a process that is not provably ours ' +
      'is never touched. Usual ports that lead to them are given back. The proxy runs on.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'only those of this branch' },
    {
      name: 'force',
      short: 'f',
      summary: 'forget those that are not provably ours; they are not touched even so',
    },
  ],
  examples: [
    ['$0 down', 'everything of this branch; from the root, of all branches'],
    ['$0 down web', 'one service'],
    ['$0 down --branch feature-x', 'everything of another branch'],
  ],
  run: ({ words, flags }, place) =>
    place.inRecordedYard(async (yard) => {
      const progress = showProgress(place);
      try {
        const done = await stop(yard, {
          branch: flags.get('branch'),
          services: words,
          force: flags.has('force'),
          onEvent: progress.onEvent,
        });
        return actionOutcome(done);
      } finally {
        progress.end();
      }
    }),
};
