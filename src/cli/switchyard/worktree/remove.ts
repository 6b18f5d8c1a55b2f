import { removeWorktree } from '../../../switchyard/index.ts';
import { usage } from '../../kit/arguments.ts';
import { actionOutcome, type YardCommand } from '../invocation.ts';
import { withProgress } from '../progress.ts';

export const yardRemoveCommand: YardCommand = {
  about: [
    'Stops the services of the branch, releases its ports and deletes its worktree. Work that git would lose ' +
      '(changed or untracked files) is not deleted without --force. Commits and the branch itself are kept.',
  ],
  flags: [{ name: 'force', short: 'f', summary: 'even with uncommitted changes' }],
  examples: [
    ['$0 remove feature-x', 'when the work is done'],
    ['$0 remove feature-x --force', 'discard changes'],
    ['$0 create feature-x', 'create it again'],
  ],
  run({ words: [branch], flags }, invocation) {
    if (branch === undefined)
      throw usage('remove needs a branch.', 'For example: switchyard remove feature-x');
    const force = flags.has('force');
    return invocation.inYard((yard) =>
      withProgress(invocation, async ({ onWait }) =>
        actionOutcome(await removeWorktree(yard, { branch, force, onWait })),
      ),
    );
  },
};
