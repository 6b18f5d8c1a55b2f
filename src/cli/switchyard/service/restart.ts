import { restart } from '../../../switchyard/index.ts';
import { startWithProgress } from './start-with-progress.ts';
import type { YardCommand } from '../invocation.ts';
import { resolveTarget } from '../target.ts';

export const yardRestartCommand: YardCommand = {
  about: [
    'Stops services of one branch and starts them again on the same ports. Without services: all that were ' +
      'started for the branch, whether they still run or not. Canonical ports that point to them are kept. The ' +
      'first argument may be a branch or a service; use --branch if a name is both.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'the branch; all arguments are then services' },
    {
      name: 'profile',
      value: 'PROFILE',
      summary: 'the services and variables of a profile (default: unchanged)',
    },
    { name: 'no-wait', summary: 'do not wait until they are ready' },
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
        restart(yard, {
          ...target,
          ...hooks,
          profile: flags.get('profile'),
          wait: !flags.has('no-wait'),
        }),
      );
    }),
};
