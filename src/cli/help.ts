import { COMMON_FLAGS, TOP_FLAGS, type Flag } from './arguments.ts';
import type { Command } from './command.ts';
import { commandsOf } from './commands.ts';
import { hasLayers, inWordsOf, namesItsConfig, type CliFace, type Listening } from './face.ts';
import { Exit } from './failure.ts';
import { columns, flagRow, wrapped } from './help-layout.ts';

/** The help of the program as a whole. */
export function overview(face: CliFace): string {
  const { program, motto, about = [], environment } = face;
  const lines = [
    `${program}: ${motto}.`,
    '',
    ...columns(
      [
        [`Usage: ${program} [flags]`, 'serve the host that starts it, on stdin and stdout'],
        ...(face.listens
          ? [[`       ${program} --http [PORT]`, 'serve clients that connect, on this machine'] as const]
          : []),
        [`       ${program} <command> [flags]`, 'look at the configuration, or use a server, without a host'],
      ],
      '',
    ),
    '',
    ...about.flatMap((paragraph) => [...wrapped(paragraph, 100), '']),
    namesItsConfig(face) ? 'Commands, about the servers of a file that --config names:' : 'Commands:',
    ...columns([
      ...commandsOf(face).map(({ name, words, summary }) => [`${name} ${words}`.trim(), summary] as const),
      ['help <command>', 'how to use a command, with examples'],
    ]),
    '',
    'Flags:',
    ...columns(TOP_FLAGS.filter((flag) => flag.forHttp !== true || face.listens !== undefined).map(flagRow)),
    '',
    'Examples:',
    ...columns(examplesOf(face)),
    '',
    'Environment:',
    ...columns(environment),
    '',
    'Exit codes:',
    ...columns(exitRows(CALL_EXIT)),
    '',
    ...(face.listens ? [...httpExits(face.listens), ''] : []),
    'Only what was asked for goes to stdout, with --json also errors, as {"error":{"code","message","hint"}};',
    'messages, progress and logs go to stderr.',
    '',
  ];
  return inWordsOf(face, lines.join('\n'));
}

function examplesOf(face: CliFace): (readonly [string, string])[] {
  const launch = [`claude mcp add $0 -- ${face.launch}`, 'let Claude Code use it in this project'] as const;
  if (namesItsConfig(face)) return [launch, ['$0 --config FILE', 'begin with the servers of a file']];
  return [
    launch,
    ['$0 add files -- npx -y @modelcontextprotocol/server-filesystem .', 'add a server'],
    ['$0 --dry-run', 'see what a host would see'],
    ['$0 call files list_directory path=.', 'use a server without a host'],
    ['$0 --http 3006', 'serve many clients, and print what to paste into them'],
  ];
}

/** The help of one command. */
export function commandHelp(
  { name, words, about, flags, examples, exits, summary }: Command,
  face: CliFace,
): string {
  const lines = [
    `$0 ${name}: ${summary}`,
    '',
    `Usage: $0 ${usageOf(name, words)}`,
    '',
    ...about.flatMap((paragraph) => [...wrapped(inWordsOf(face, paragraph), 100), '']),
    'Examples:',
    ...columns(
      examples
        .filter(([line]) => !flags.some((flag) => !isFor(face, flag) && line.includes(` --${flag.name}`)))
        .map(([line, meaning]) => [inWordsOf(face, exampleFor(face, line)), meaning] as const),
    ),
    '',
    'Flags:',
    ...columns([...flags.filter((flag) => isFor(face, flag)), ...COMMON_FLAGS].map(flagRow)),
    '',
    'Exit codes:',
    ...columns(exitRows(exits ?? [])),
    '',
  ];
  return inWordsOf(face, lines.join('\n'));
}

function isFor(face: CliFace, { forLayers }: Flag): boolean {
  return forLayers !== true || hasLayers(face);
}

function usageOf(name: string, words = ''): string {
  return [name, words, words.includes('[flags]') ? '' : '[flags]'].filter(Boolean).join(' ');
}

/** With the flag that some programs cannot do without. */
function exampleFor(face: CliFace, line: string): string {
  if (!namesItsConfig(face) || line.includes('--config')) return line;
  return line.replace('$0 ', () => '$0 --config FILE ');
}

const SHARED_EXITS: readonly (readonly [number, string])[] = [
  [Exit.ok, 'all went well'],
  [Exit.failed, 'something that was tried failed: a tool, a server, a reload'],
  [Exit.usage, 'the command line is wrong: a command, flag, server, tool or argument'],
  [Exit.bug, 'a bug in Switchboard'],
  [Exit.config, 'the configuration cannot be used'],
  [130, 'stopped by Ctrl-C (143 by SIGTERM, 129 by SIGHUP)'],
];

function exitRows(special: readonly (readonly [number, string])[]): (readonly [string, string])[] {
  const meanings = new Map([...SHARED_EXITS, ...special]);
  return [...meanings].sort(([a], [b]) => a - b).map(([code, meaning]) => [String(code), meaning]);
}

function httpExits({ stayVariable }: Listening): string[] {
  const ended = stayVariable === undefined ? 'a signal ended it' : 'a signal or the last client ended it';
  return [
    `With --http: 0 when ${ended}, 1 where it cannot listen at that address, 78 where the configuration or`,
    'the token cannot be used. A second signal ends it at once, with 1.',
  ];
}

const CALL_EXIT = [[Exit.notStarted, 'call: the server could not be started']] as const;
