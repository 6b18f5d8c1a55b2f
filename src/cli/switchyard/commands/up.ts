import { up as start, type YardContext } from '../../../switchyard/index.ts';
import type { ParsedArguments } from '../../arguments.ts';
import type { CommandOutcome } from '../../command.ts';
import { startWithProgress } from '../start-with-progress.ts';
import type { YardInvocation, YardCommand } from '../command.ts';
import { resolveTarget } from '../resolve-target.ts';

export const yardUpCommand: YardCommand = {
  about: [
    'Without words: all services of the branch you stand in. The first word may be a branch or a service; where there ' +
      'are both of that name, --branch says which is meant.',
    'Services get free ports, never the ones in switchyard.toml: those belong to whichever branch is checked out ' +
      '(--checkout does that too). It waits until the port of each service is open and its own, and its health ' +
      'address answers; those it depends on come first. One that ends instead is shown with its exit code and what it ' +
      'wrote last, and the exit code is 1.',
    'Usual ports that were checked out and lead nowhere, after a reboot for example, lead to their branch again as soon ' +
      'as it runs; where that cannot be done, it says why.',
    'Ctrl-C ends the waiting, not the services. What runs already is left alone.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'the branch; all words are services then' },
    { name: 'profile', value: 'PROFILE', summary: 'the services and variables of a profile' },
    { name: 'checkout', summary: 'and let the usual ports lead to this branch' },
    { name: 'no-wait', summary: 'do not wait until they answer' },
  ],
  examples: [
    ['$0 up', 'everything, for the branch you stand in'],
    ['$0 up feature-x', 'everything, for a branch that has a worktree'],
    ['$0 up api', 'one service, for the branch you stand in'],
    ['$0 up feature-x web api', 'two services of another branch'],
    ['$0 up --checkout', 'and on the usual ports'],
  ],
  run: (given, invocation) => {
    start.soon();
    return invocation.inYard((yard) => run(given, invocation, yard));
  },
};

async function run(
  given: ParsedArguments,
  invocation: YardInvocation,
  yard: YardContext,
): Promise<CommandOutcome> {
  const target = await resolveTarget(yard, 'up', given);
  const { flags } = given;
  return startWithProgress(invocation, (hooks) =>
    start(yard, {
      ...target,
      ...hooks,
      profile: flags.get('profile'),
      wait: !flags.has('no-wait'),
      checkout: flags.has('checkout'),
    }),
  );
}
