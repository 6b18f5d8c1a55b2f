import { restart as startAnew } from '../../../switchyard/index.ts';
import { bringUp } from '../bring-up.ts';
import type { YardCommand } from '../command.ts';

export const restart: YardCommand = {
  about: [
    'Stops services of one branch and starts them again, on the ports they had. Without words: all that were started ' +
      'for it, whether they still run or not. Usual ports that lead to them go on doing so.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'the branch (default: the one you stand in)' },
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
    ['$0 restart api --branch feature-x', 'one service of another branch'],
  ],
  run: ({ words, flags }, place) =>
    place.inYard((yard) =>
      bringUp(place, (hooks) =>
        startAnew(yard, {
          ...hooks,
          branch: flags.get('branch'),
          services: words,
          profile: flags.get('profile'),
          wait: !flags.has('no-wait'),
        }),
      ),
    ),
};
