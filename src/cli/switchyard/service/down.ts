import { down as stop } from '../../../switchyard/index.ts';
import { actionOutcome, type YardCommand } from '../invocation.ts';
import { resolveTarget } from '../target.ts';
import { withProgress } from '../progress.ts';

export const yardDownCommand: YardCommand = {
  about: [
    'Without arguments in a worktree: stops the services of its branch; from the project root: those of all ' +
      'branches. The first argument may be a branch or a service; use --branch if a name is both.',
    'Stops whole process trees, including everything npm or a shell started for them. Switchyard never touches a ' +
      'process that it cannot prove is its own. Canonical ports that point to these services are released. The ' +
      'proxy keeps running.',
    'With --project: the services of another project, by its path or by its name in `switchyard status --all`, ' +
      'even if its directory is gone.',
  ],
  flags: [
    {
      name: 'branch',
      value: 'BRANCH',
      summary: 'only this branch; all arguments are then names of services',
    },
    { name: 'project', value: 'PROJECT', summary: 'another project, by name or path' },
    {
      name: 'force',
      short: 'f',
      summary: 'forget unverified services and leave their processes alone',
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
      const force = given.flags.has('force');
      return actionOutcome(
        await withProgress(invocation, ({ onEvent }) => stop(yard, { ...target, force, onEvent })),
      );
    }, given.flags.get('project')),
};
