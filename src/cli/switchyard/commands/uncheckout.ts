import { uncheckout as giveBack } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { resolveTarget } from '../resolve-target.ts';

export const yardUncheckoutCommand: YardCommand = {
  about: [
    'Without words, in a worktree: the ports of its branch; from the root of the repository: those of all branches. ' +
      'The first word may be a branch or a service; --branch says which where a name is both. The services run on, ' +
      'under their addresses and on their own ports.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'only those of this branch; all words are services then' },
  ],
  examples: [
    ['$0 uncheckout', 'all usual ports'],
    ['$0 uncheckout db', 'the one of a service'],
    ['$0 uncheckout feature-x', 'those of a branch'],
  ],
  run: (given, invocation) =>
    invocation.inRecordedYard(async (yard) =>
      actionOutcome(await giveBack(yard, await resolveTarget(yard, 'uncheckout', given))),
    ),
};
