import { restart as startAnew } from '../../../switchyard/index.ts';
import { startWithProgress } from '../start-with-progress.ts';
import type { YardCommand } from '../command.ts';
import { resolveTarget } from '../resolve-target.ts';

export const yardRestartCommand: YardCommand = {
  about: [
    'Stops services of one branch and starts them again, on the ports they had. Without services: all that were ' +
      'started for it, whether they still run or not. Usual ports that lead to them go on doing so. The first word may be ' +
      'a branch or a service; --branch says which where a name is both.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'the branch; all words are services then' },
    {
      name: 'profile',
      value: 'PROFILE',
      summary: 'the services and variables of a profile (default: as they were)',
    },
    { name: 'no-wait', summary: 'do not wait until they answer' },
  ],
  examples: [
    ['$0 restart', 'everything of this branch'],
    ['$0 restart api', 'one service'],
    ['$0 restart feature-x', 'everything of another branch'],
    ['$0 restart feature-x api', 'one service of another branch'],
  ],
  run: (given, invocation) =>
    invocation.inYard(async (yard) => {
      const target = await resolveTarget(yard, 'restart', given);
      const { flags } = given;
      return startWithProgress(invocation, (hooks) =>
        startAnew(yard, {
          ...target,
          ...hooks,
          profile: flags.get('profile'),
          wait: !flags.has('no-wait'),
        }),
      );
    }),
};
