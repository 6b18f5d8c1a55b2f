import { status as look } from '../../../switchyard/index.ts';
import { usage } from '../../arguments.ts';
import { Exit } from '../../failure.ts';
import type { YardCommand } from '../command.ts';
import { unknownBranch } from '../unknown-branch.ts';
import { statusLines } from '../status-view.ts';
import { statusAll } from '../status-all.ts';

export const yardStatusCommand: YardCommand = {
  about: [
    'In a worktree: the services of its branch. From the root of the repository: those of all branches.',
    'healthy: it listens on its port, and its health address answers. ready: it listens, and has no health address. ' +
      'running: it runs, and ready_timeout = 0 says that it listens nowhere. unhealthy: it listens, but its health ' +
      'address answers with an error or not within a second. not-listening: it runs, but nothing of it listens on its ' +
      'port yet. wrong-port: it listens on another port. exited: nothing of it runs. unverified: nothing proves that the ' +
      'process is ours, so it is left alone.',
    'Then the usual ports that are checked out, with the branch each leads to, and whether the proxy answers, without ' +
      'which no named address does. In JSON, status is about the process alone (running, stale, unverified), and state is ' +
      'the word above.',
  ],
  flags: [
    { name: 'all', summary: 'every project of this machine, from anywhere' },
    { name: 'branch', value: 'BRANCH', summary: 'only those of this branch' },
    { name: 'watch', short: 'w', summary: 'keep looking, on a terminal; q ends it' },
  ],
  examples: [
    ['$0 status', 'what runs'],
    ['$0 status --watch', 'and what changes'],
    ['$0 status --all', 'what runs on this machine'],
    [
      '$0 status --json | jq -r \'.services[] | select(.state == "exited").log_file\'',
      'logs of what has ended',
    ],
  ],
  run({ flags }, invocation) {
    const branch = flags.get('branch');
    if (flags.has('watch') && invocation.json)
      throw usage('--watch draws on a terminal, and --json is for programs.', 'Leave one of them out.');
    if (flags.has('all')) {
      if (branch !== undefined || flags.has('watch'))
        throw usage('--all shows all branches of all projects, once.', 'Leave out --branch and --watch.');
      return statusAll(invocation);
    }
    return invocation.inRecordedYard(async (yard) => {
      if (!flags.has('watch')) {
        const found = await look(yard, { branch });
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
