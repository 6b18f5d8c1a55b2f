import { columns, flagRow, wrapText } from '../help-layout.ts';
import { YARD_FLAGS, type YardCommand } from './command.ts';
import { YARD_COMMANDS, type YardEntry } from './commands.ts';

/** The help of the program as a whole: what it is, and a day with it, on one screen. */
export function yardOverview(): string {
  const daily = new Set(A_DAY.map(([line]) => line.split(' ')[0]!));
  const others = YARD_COMMANDS.filter(({ name, hidden }) => hidden !== true && !daily.has(name));
  return text([
    'switchyard: every branch of a repository up at once, every service findable.',
    '',
    'Each branch has a worktree of its own. Its services get free ports, log files, and a name that stays:',
    'http://web.feature-x.shop.localhost:7331. They run on by themselves; any later command finds them again.',
    '',
    'A day with it (sy is short for switchyard):',
    ...columns(A_DAY.map(([line, meaning]) => [`sy ${line}`, meaning])),
    '',
    'And:',
    ...columns([
      ...others.map(({ name, words, summary }) => [`${name} ${words}`.trim(), summary] as const),
      ['help <command>', 'how to use a command, with examples'],
    ]),
    '',
    'Every command takes --json. Exit codes: 0 done, 1 something failed, 2 typed wrongly, 130 Ctrl-C.',
    '',
    'Files and environment:',
    ...columns([
      ['switchyard.toml', 'the services of the repository and how each is started'],
      ['~/.switchyard', 'what runs, logs, worktrees; SWITCHYARD_HOME names another place'],
      ['PORT, HOST', 'what each service is told; also {port} and {host} in its command'],
      ['NO_COLOR', 'no colours'],
    ]),
  ]);
}

const A_DAY: readonly (readonly [line: string, meaning: string])[] = [
  ['init', 'once: look at the repository and write its switchyard.toml'],
  ['create feature-x', 'a worktree for a branch, with the env files it needs'],
  ['up feature-x', 'start its services, wait until they answer, print their addresses'],
  ['status', 'what runs where; --watch keeps looking'],
  ['logs web -f', 'what a service writes; --grep and --since find things in it'],
  ['checkout feature-x', 'localhost:3000 is this branch now; other branches run on'],
  ['down', 'stop the services of the branch you stand in, or of all from the root'],
];

/** The help of one command. */
export function yardCommandHelp({ name, words, summary, parts }: YardEntry, command: YardCommand): string {
  const { about, flags, examples } = command;
  const second = parts?.map((part) => part.name.slice(name.length + 1));
  const choice = second && `[${second.join('|')}]`;
  return text([
    `usage: switchyard ${[name, choice, words, '[flags]'].filter(Boolean).join(' ')}`,
    '',
    summary,
    '',
    ...(parts === undefined
      ? []
      : ['commands:', ...columns(parts.map((part) => [part.name, part.summary] as const)), '']),
    ...about.flatMap((paragraph) => [...wrapText(paragraph, 100), '']),
    'Examples:',
    ...columns(examples.map(([line, meaning]) => [line.replaceAll('$0', 'switchyard'), meaning])),
    '',
    'Flags:',
    ...columns([...flags, ...YARD_FLAGS].filter(({ hidden }) => hidden !== true).map(flagRow)),
  ]);
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
