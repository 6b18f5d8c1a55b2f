import { COMMON_FLAGS, TOP_FLAGS, type Flag } from './arguments.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { Exit } from './failure.ts';

/** The help of the program as a whole. */
export function overview(): string {
  return [
    'Switchboard: many MCP servers behind one, with one small tool for each.',
    '',
    'Usage: switchboard [flags]              serve the host that starts it, on stdin and stdout',
    '       switchboard <command> [flags]',
    '',
    'Commands:',
    ...columns([
      ...COMMANDS.map(({ name, words, summary }) => [`${name} ${words}`.trim(), summary] as const),
      ['help <command>', 'how to use a command, with examples'],
    ]),
    '',
    'Flags:',
    ...columns(TOP_FLAGS.map(flagRow)),
    '',
    'Examples:',
    ...columns([
      ['claude mcp add switchboard -- npx -y mcp-switchboard', 'let Claude Code use it in this project'],
      ['switchboard --dry-run', 'see what a host would see'],
      ['switchboard call github search_issues query=bug', 'use a server without a host'],
    ]),
    '',
    'Exit codes:',
    ...columns(exitRows(CALL_EXIT)),
    '',
    'Only what was asked for goes to stdout, with --json also errors, as {"error":{"code","message","hint"}};',
    'messages, progress and logs go to stderr.',
    '',
  ].join('\n');
}

/** The help of one command. */
export function commandHelp({ name, words, about, flags, examples, exits, summary }: Command): string {
  return [
    `switchboard ${name}: ${summary}`,
    '',
    `Usage: switchboard ${[name, words, '[flags]'].filter(Boolean).join(' ')}`,
    '',
    ...about.flatMap((paragraph) => [...wrapped(paragraph, 100), '']),
    'Examples:',
    ...columns(examples),
    '',
    'Flags:',
    ...columns([...flags, ...COMMON_FLAGS].map(flagRow)),
    '',
    'Exit codes:',
    ...columns(exitRows(exits ?? [])),
    '',
  ].join('\n');
}

const SHARED_EXITS: readonly (readonly [number, string])[] = [
  [Exit.ok, 'all went well'],
  [Exit.failed, 'something that was tried failed: a tool, or a server'],
  [Exit.usage, 'the command line is wrong: a command, flag, server, tool or argument'],
  [Exit.bug, 'a bug in Switchboard'],
  [Exit.config, 'the configuration cannot be used'],
  [130, 'stopped by Ctrl-C (143 by SIGTERM, 129 by SIGHUP)'],
];

function exitRows(special: readonly (readonly [number, string])[]): (readonly [string, string])[] {
  const meanings = new Map([...SHARED_EXITS, ...special]);
  return [...meanings].sort(([a], [b]) => a - b).map(([code, meaning]) => [String(code), meaning]);
}

const CALL_EXIT = [[Exit.notStarted, 'call: the server could not be started']] as const;

function flagRow({ name, short, value, summary }: Flag): readonly [string, string] {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return [short === undefined ? long : `${long}, -${short}`, summary];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const widest = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(widest)}  ${right}`.trimEnd());
}

function wrapped(text: string, limit: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > limit) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
