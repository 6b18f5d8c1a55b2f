import { columns } from '../kit/help.ts';
import { YARD_COMMANDS } from './commands.ts';

/** The main help: what the program is and its daily use, on one screen. */
export function yardOverview(): string {
  const daily = new Set(A_DAY.flatMap(([line]) => line.split(' ', 1)));
  const others = YARD_COMMANDS.filter(({ name, hidden }) => hidden !== true && !daily.has(name));
  const lines = [
    'switchyard: run the services of every branch side by side.',
    '',
    'Each branch has its own worktree. Its services get free ports, log files and a stable address:',
    'http://web.feature-x.shop.localhost:7331. They run in the background; any later command finds them.',
    '',
    'Daily use (sy is short for switchyard):',
    ...columns(A_DAY.map(([line, meaning]) => [`sy ${line}`, meaning])),
    '',
    'More commands:',
    ...columns([
      ...others.map(({ name, words, summary }) => [`${name} ${words}`.trim(), summary] as const),
      ['help <command>', 'show help for a command, with examples'],
    ]),
    '',
    'Every command takes --json. Exit codes: 0 success, 1 failure, 2 usage error, 130 Ctrl-C.',
    '',
    'Files and environment:',
    ...columns([
      ['switchyard.toml', 'the services of the repository and how each is started'],
      ['~/.switchyard', 'state, logs, worktrees; SWITCHYARD_HOME sets another location'],
      ['PORT, HOST', 'set for each service; also {port} and {host} in its command'],
      ['NO_COLOR', 'disable colours'],
    ]),
    '',
  ];
  return lines.join('\n');
}

const A_DAY: readonly (readonly [line: string, meaning: string])[] = [
  ['init', 'once: inspect the repository and write its switchyard.toml'],
  ['create feature-x', 'create a worktree for a branch, with its env files'],
  ['up feature-x', 'start its services, wait until they are ready, print their addresses'],
  ['status', 'show what runs where; --watch keeps updating'],
  ['logs web -f', 'show the output of a service; filter with --grep and --since'],
  ['checkout feature-x', 'point localhost:3000 to this branch; other branches keep running'],
  ['down', 'stop the services of the current branch; from the root, of all'],
];
