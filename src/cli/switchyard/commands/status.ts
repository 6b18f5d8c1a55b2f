import { status } from '../../../switchyard/index.ts';
import { usage } from '../../arguments.ts';
import { Exit } from '../../failure.ts';
import type { YardCommand } from '../command.ts';
import { unknownBranch } from '../unknown-branch.ts';
import { statusLines } from '../status-view.ts';
import { statusAll } from '../status-all.ts';

export const yardStatusCommand: YardCommand = {
  about: [
    'In a worktree: the services of its branch. From the project root: those of all branches.',
    'The state of a service:',
    [
      ['healthy', 'it listens on its port, and its health check succeeds'],
      ['ready', 'it listens on its port, and has no health check'],
      ['running', 'it runs and does not listen, as configured with ready_timeout = 0'],
      ['unhealthy', 'it listens, but its health check fails or takes longer than a second'],
      ['not-listening', 'it runs, but does not listen on its port yet'],
      ['wrong-port', 'it runs, but listens on another port'],
      ['exited', 'no process of it runs'],
      ['unverified', 'nothing proves that the process is ours, so it is left alone'],
    ],
    'Also shows the checked-out canonical ports with the branch of each, and whether the proxy responds, which ' +
      'named addresses need. In JSON this is state; status describes only the process (running, stale, unverified).',
  ],
  flags: [
    { name: 'all', summary: 'all projects on this machine, from any directory' },
    { name: 'branch', value: 'BRANCH', summary: 'only this branch' },
    { name: 'watch', short: 'w', summary: 'keep updating, on a terminal; q quits' },
  ],
  examples: [
    ['$0 status', 'what runs'],
    ['$0 status --watch', 'keep updating'],
    ['$0 status --all', 'all projects on this machine'],
    [
      '$0 status --json | jq -r \'.services[] | select(.state == "exited").log_file\'',
      'logs of exited services',
    ],
  ],
  run({ flags }, invocation) {
    const branch = flags.get('branch');
    if (flags.has('watch') && invocation.json)
      throw usage('--watch cannot be combined with --json.', 'Leave one of them out.');
    if (flags.has('all')) {
      if (branch !== undefined || flags.has('watch'))
        throw usage('--all shows all branches of all projects, once.', 'Leave out --branch and --watch.');
      return statusAll(invocation);
    }
    return invocation.inRecordedYard(async (yard) => {
      if (!flags.has('watch')) {
        const found = await status(yard, { branch });
        return {
          exitCode: Exit.ok,
          data: found,
          text: (style) =>
            statusLines(found, style)
              .map((line) => `${line}\n`)
              .join(''),
          ...(found.services.length === 0 ? await unknownBranch(yard, branch) : {}),
        };
      }
      const { watchStatus } = await import('../watch-status.ts');
      return { exitCode: await watchStatus(yard, branch), data: undefined, text: () => '' };
    });
  },
};
