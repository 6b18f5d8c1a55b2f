import { COMMON_FLAGS, GLOBAL_FLAGS } from './flags.ts';
import type { CliCommand } from './command.ts';
import { commandsOf, type CliEntry } from './commands.ts';
import {
  hasLayers,
  expandPlaceholders,
  requiresConfigFlag,
  type CliVariant,
  type ListenSettings,
} from './variants.ts';
import { Exit } from '../../shared/exit-codes.ts';
import { columns, commandHelp, exitRows, flagRow, wrapText } from '../kit/help.ts';

/** The help of the program as a whole. */
export function programHelp(variant: CliVariant): string {
  const { program, motto, about = [], environment } = variant;
  const lines = [
    `${program}: ${motto}.`,
    '',
    ...columns(
      [
        [`Usage: ${program} [flags]`, 'serve the host that starts it, over stdin and stdout'],
        ...(variant.listens
          ? [[`       ${program} --http [PORT]`, 'serve clients on this machine over HTTP'] as const]
          : []),
        [`       ${program} <command> [flags]`, 'manage servers, or use them without a host'],
      ],
      '',
    ),
    '',
    ...about.flatMap((paragraph) => [...wrapText(paragraph, 100), '']),
    requiresConfigFlag(variant) ? 'Commands (they need --config FILE):' : 'Commands:',
    ...columns([
      ...commandsOf(variant).map(({ name, words, summary }) => [`${name} ${words}`.trim(), summary] as const),
      ['help <command>', 'show help for a command, with examples'],
    ]),
    '',
    'Flags:',
    ...columns(
      GLOBAL_FLAGS.filter((flag) => flag.forHttp !== true || variant.listens !== undefined).map(flagRow),
    ),
    '',
    'Examples:',
    ...columns(examplesOf(variant)),
    '',
    'Environment:',
    ...columns(environment),
    '',
    'Exit codes:',
    ...columns(exitRows([...SHARED_EXITS, ...CALL_EXIT])),
    '',
    ...(variant.listens ? [...httpExits(variant.listens), ''] : []),
    'Results go to stdout; messages, progress and logs go to stderr.',
    'With --json, errors go to stdout too, as {"error":{"code","message","hint"}}.',
    '',
  ];
  return expandPlaceholders(variant, lines.join('\n'));
}

function examplesOf(variant: CliVariant): (readonly [string, string])[] {
  const launch = [`claude mcp add $0 -- ${variant.launch}`, 'add it to Claude Code in this project'] as const;
  if (requiresConfigFlag(variant)) return [launch, ['$0 --config FILE', 'start with the servers of a file']];
  return [
    launch,
    ['$0 add files -- npx -y @modelcontextprotocol/server-filesystem .', 'add a server'],
    ['$0 --dry-run', 'show what a host would see'],
    ['$0 call files list_directory path=.', 'use a server without a host'],
    ['$0 --http 3006', 'serve many clients, and print their configuration'],
  ];
}

/** The help of one command. */
export function helpForCommand(entry: CliEntry, command: CliCommand, variant: CliVariant): string {
  return commandHelp(entry, command, {
    program: variant.program,
    commonFlags: COMMON_FLAGS,
    expand: (text) => expandPlaceholders(variant, text),
    expandExample: (line) => expandPlaceholders(variant, exampleFor(variant, line)),
    hasFlag: ({ forLayers }) => forLayers !== true || hasLayers(variant),
    exits: SHARED_EXITS,
  });
}

/** With the flag that some programs cannot do without. */
function exampleFor(variant: CliVariant, line: string): string {
  if (!requiresConfigFlag(variant) || line.includes('--config')) return line;
  return line.replace('$0 ', () => '$0 --config FILE ');
}

const SHARED_EXITS: readonly (readonly [number, string])[] = [
  [Exit.ok, 'success'],
  [Exit.failed, 'the operation failed'],
  [Exit.usage, 'usage error: unknown or invalid command, flag, server, tool or argument'],
  [Exit.bug, 'a bug in Switchboard'],
  [Exit.config, 'the configuration is invalid'],
  [130, 'stopped by Ctrl-C (143 by SIGTERM, 129 by SIGHUP)'],
];

function httpExits({ stayVariable }: ListenSettings): string[] {
  const ended =
    stayVariable === undefined
      ? 'stopped by a signal'
      : 'stopped by a signal, or the last client disconnected';
  return [
    `With --http: 0 if ${ended}; 1 if it cannot listen on the address;`,
    '78 if the configuration or the token is invalid. A second signal stops it immediately with exit code 1.',
  ];
}

const CALL_EXIT = [[Exit.notStarted, 'call: the server could not be started']] as const;
