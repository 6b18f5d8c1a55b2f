import { removeWorktree } from '../../../switchyard/index.ts';
import { usage } from '../../arguments.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { showProgress } from '../progress.ts';

export const yardRemoveCommand: YardCommand = {
  about: [
    'Stops the services of the branch, gives its ports back, and deletes its worktree. What git would lose (changed ' +
      'files, files it does not know) is not deleted without --force. Commits and the branch itself stay.',
  ],
  flags: [{ name: 'force', short: 'f', summary: 'also with changes that are not committed' }],
  examples: [
    ['$0 remove feature-x', 'when the work is done'],
    ['$0 remove feature-x --force', 'throw changes away'],
    ['$0 create feature-x', 'and back again'],
  ],
  run({ words: [branch], flags }, invocation) {
    if (branch === undefined)
      throw usage('remove needs a branch.', 'For example: switchyard remove feature-x');
    return invocation.inYard(async (yard) => {
      const progress = showProgress(invocation);
      try {
        const { onWait } = progress;
        return actionOutcome(await removeWorktree(yard, { branch, force: flags.has('force'), onWait }));
      } finally {
        progress.end();
      }
    });
  },
};
