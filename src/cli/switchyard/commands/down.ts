import { down as stop } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { resolveTarget } from '../resolve-target.ts';
import { showProgress } from '../progress.ts';

export const yardDownCommand: YardCommand = {
  about: [
    'Without words, in a worktree: the services of its branch; from the root of the repository: those of all branches. ' +
      'The first word may be a branch or a service; --branch says which where a name is both.',
    'Whole process trees end, also what npm or a shell has started for them; a process that is not provably ours ' +
      'is never touched. Usual ports that lead to them are given back. The proxy runs on.',
    'With --project: those of another project, by the name that `switchyard status --all` shows or by its path, also when ' +
      'its directory is gone.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'only those of this branch; all words are services then' },
    { name: 'project', value: 'PROJECT', summary: 'those of another project: its name, or its path' },
    {
      name: 'force',
      short: 'f',
      summary: 'forget those that are not provably ours; they are not touched even so',
    },
  ],
  examples: [
    ['$0 down', 'everything of this branch; from the root, of all branches'],
    ['$0 down web', 'one service'],
    ['$0 down feature-x', 'everything of another branch'],
    ['$0 down feature-x web', 'one service of another branch'],
    ['$0 down --project shop', 'everything of another project'],
  ],
  run: (given, invocation) =>
    invocation.inRecordedYard(async (yard) => {
      const target = await resolveTarget(yard, 'down', given);
      const progress = showProgress(invocation);
      try {
        const done = await stop(yard, {
          ...target,
          force: given.flags.has('force'),
          onEvent: progress.onEvent,
        });
        return actionOutcome(done);
      } finally {
        progress.end();
      }
    }, given.flags.get('project')),
};
