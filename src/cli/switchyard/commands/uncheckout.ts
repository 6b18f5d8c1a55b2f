import { uncheckout as giveBack } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';

export const uncheckout: YardCommand = {
  about: [
    'In a worktree: the ports of its branch. From the root of the repository: those of all branches. The services ' +
      'run on, under their addresses and on their own ports.',
  ],
  flags: [{ name: 'branch', value: 'BRANCH', summary: 'only those of this branch' }],
  examples: [
    ['$0 uncheckout', 'all usual ports'],
    ['$0 uncheckout db', 'the one of a service'],
    ['$0 uncheckout --branch feature-x', 'those of a branch'],
  ],
  run: ({ words, flags }, place) =>
    place.inRecordedYard(async (yard) =>
      actionOutcome(await giveBack(yard, { branch: flags.get('branch'), services: words })),
    ),
};
