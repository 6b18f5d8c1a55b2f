import { removeWorktree } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { confirm } from '../../kit/prompter.ts';
import { actionOutcome, type YardCommand } from '../invocation.ts';
import { withProgress } from '../progress.ts';

export const yardRemoveCommand: YardCommand = {
  about: [
    'Stops the services of the branch, releases its ports and deletes its worktree. Work that git would lose ' +
      '(changed or untracked files) is not deleted without --force. Commits and the branch itself are kept.',
    'If services of the branch are running, it asks first. Without a terminal, it needs --yes.',
  ],
  flags: [
    { name: 'yes', short: 'y', summary: 'stop running services without asking' },
    { name: 'force', short: 'f', summary: 'remove it even with uncommitted changes, without asking' },
  ],
  examples: [
    ['$0 remove feature-x', 'when the work is done'],
    ['$0 remove feature-x --yes', 'in a script'],
    ['$0 remove feature-x --force', 'discard changes'],
    ['$0 create feature-x', 'create it again'],
  ],
  run({ words: [branch], flags }, invocation) {
    if (branch === undefined)
      throw usage('remove needs a branch.', 'For example: switchyard remove feature-x');
    const force = flags.has('force');
    const mayStop = (services: readonly string[]): boolean | Promise<boolean> =>
      flags.has('yes') || (!invocation.json && agrees(branch, services));
    return invocation.inYard((yard) =>
      withProgress(invocation, async ({ onEvent }) =>
        actionOutcome(await removeWorktree(yard, { branch, force, mayStop, onEvent })),
      ),
    );
  },
};

async function agrees(branch: string, services: readonly string[]): Promise<boolean> {
  const { stdin: input, stderr: output } = process;
  if (!input.isTTY || !output.isTTY) return false;
  const verb = services.length === 1 ? 'is' : 'are';
  const question = `${services.join(', ')} of ${branch} ${verb} running. Stop and remove the worktree?`;
  return confirm(printableLine(question), { input, output, signal: new AbortController().signal });
}
