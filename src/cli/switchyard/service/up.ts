import { up as start, type YardContext } from '../../../switchyard/index.ts';
import type { ParsedArguments } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import { startWithProgress } from './start-with-progress.ts';
import type { YardInvocation, YardCommand } from '../invocation.ts';
import { resolveTarget } from '../target.ts';

export const yardUpCommand: YardCommand = {
  about: [
    'Without arguments: starts all services of the current branch. The first argument may be a branch or a ' +
      'service; use --branch if a name is both.',
    'Services get free ports, not the canonical ones in switchyard.toml: those point to the checked-out branch ' +
      '(--checkout selects this one). Dependencies start first. The command waits until each service listens on ' +
      'its own port and its health check succeeds. If a service exits instead, its exit code and last output are ' +
      'shown, and the command exits with 1.',
    'Checked-out canonical ports that stopped working, for example after a reboot, are restored as soon as their ' +
      'branch is running; if that fails, the command says why.',
    'Ctrl-C stops the wait, not the services. Services that are already running are left alone.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'the branch; all arguments are then services' },
    { name: 'profile', value: 'PROFILE', summary: 'the services and variables of a profile' },
    { name: 'checkout', summary: 'also point the canonical ports to this branch' },
    { name: 'no-wait', summary: 'do not wait until they are ready' },
  ],
  examples: [
    ['$0 up', 'everything, for the current branch'],
    ['$0 up feature-x', 'everything, for a branch that has a worktree'],
    ['$0 up api', 'one service, for the current branch'],
    ['$0 up feature-x web api', 'two services of another branch'],
    ['$0 up --checkout', 'also on the canonical ports'],
  ],
  run: (given, invocation) => invocation.inYard((yard) => run(given, invocation, yard)),
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
