import { allProjects, status, type ProjectStatus } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { usage } from '../../kit/arguments.ts';
import { type YardCommand, type YardInvocation, unknownBranch } from '../invocation.ts';
import { statusLines } from './status-view.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import { asLines, printedLines } from '../../kit/text.ts';
import type { Style } from '../../kit/style.ts';

export const yardStatusCommand: YardCommand = {
  about: [
    'In a worktree: the services of its branch. From the project root: those of all branches.',
    'The state of a service:',
    [
      ['healthy', 'it is listening on its port, and its health check succeeds'],
      ['ready', 'it is listening on its port and has no health check'],
      ['running', 'it is running and is not expected to listen (ready_timeout = 0)'],
      ['unhealthy', 'it is listening, but its health check fails or takes longer than a second'],
      ['not-listening', 'it is running but not yet listening on its port'],
      ['wrong-port', 'it is running, but listening on another port'],
      ['exited', 'none of its processes is running'],
      ['unverified', 'a process may belong to it, but nothing proves that, so the process is left alone'],
    ],
    'Also shows the checked-out canonical ports with the branch of each, and whether the proxy responds, which ' +
      'named addresses need. In JSON this is state; status describes only the process (running, stale, unverified).',
  ],
  flags: [
    { name: 'all', summary: 'all projects on this machine, from any directory' },
    { name: 'branch', value: 'BRANCH', summary: 'only this branch' },
    { name: 'watch', short: 'w', summary: 'keep updating (only in a terminal); q quits' },
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
          data: found,
          text: (style) => asLines(statusLines(found, style)),
          complaint: found.services.length === 0 ? await unknownBranch(yard, branch) : '',
        };
      }
      const { watchStatus } = await import('./watch-status.ts');
      return { exitCode: await watchStatus(yard, branch), data: undefined, text: () => '' };
    });
  },
};

/** All projects on this machine with their services, from any directory. */
async function statusAll({ env }: Pick<YardInvocation, 'env'>): Promise<CommandOutcome> {
  const { warnings, ...found } = await allProjects(env);
  return {
    data: found,
    text: (style) => allText(found.projects, style),
    complaint: printedLines(warnings.map((warning) => `warning: ${warning}`)),
  };
}

function allText(projects: readonly ProjectStatus[], style: Style): string {
  if (projects.length === 0) return 'no projects registered\n';
  const blocks = projects.map((project) => [
    `${style.bold(printableLine(project.name))} ${printableLine(project.root)}`,
    ...remarksOf(project).map((line) => style.caution(printableLine(line))),
    ...statusLines(project, style),
  ]);
  return blocks.map(asLines).join('\n');
}

function remarksOf({ name, config, status, services }: ProjectStatus): readonly string[] {
  if (status === 'ok') return [];
  if (status === 'unreadable') return [`${config} is missing or cannot be read`];
  return [
    services.length === 0
      ? 'its directory is gone; `switchyard prune --all` forgets it'
      : `its directory is gone; \`switchyard down --project ${shellWord(name)}\` stops what runs`,
  ];
}
