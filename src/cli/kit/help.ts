import type { Flag } from './arguments.ts';
import type { Command, CommandEntry, HelpRow } from './command.ts';

export interface CommandHelpOptions {
  readonly program: string;
  readonly commonFlags: readonly Flag[];
  /** Replaces the placeholders in a text. Default: only `$0`. */
  readonly expand?: (text: string) => string;
  /** Replaces the placeholders in an example. Default: as in any text. */
  readonly expandExample?: (line: string) => string;
  /** Whether the program supports a flag of its commands. Default: it supports all. */
  readonly hasFlag?: (flag: Flag) => boolean;
  /** The exit codes that all commands share. Default: they are in the help of the program. */
  readonly exits?: readonly (readonly [code: number, meaning: string])[];
}

/** The help of one command. */
export function commandHelp(
  { parts, ...entry }: Pick<CommandEntry<never>, 'name' | 'words' | 'summary' | 'parts'>,
  { about, flags, examples, exits: special = [], ...own }: Omit<Command<never>, 'run'>,
  options: CommandHelpOptions,
): string {
  const { program, commonFlags, hasFlag = () => true, exits } = options;
  const { expand = (text) => text.replaceAll('$0', program) } = options;
  const { expandExample = expand } = options;
  const { name, words, summary } = { ...entry, ...own };
  const choice = parts && `[${parts.map((part) => part.name.slice(name.length + 1)).join('|')}]`;
  const ending = words.includes('[flags]') ? '' : '[flags]';
  const missing = flags.filter((flag) => !hasFlag(flag));
  const isPossible = ([line]: HelpRow): boolean => !missing.some((flag) => line.includes(` --${flag.name}`));
  const lines = [
    `${program} ${name}: ${summary}`,
    '',
    `Usage: ${[program, name, choice, words, ending].filter(Boolean).join(' ')}`,
    '',
    ...(parts === undefined
      ? []
      : ['Commands:', ...columns(parts.map((part) => [part.name, part.summary])), '']),
    ...about.flatMap((part) => [
      ...(typeof part === 'string' ? wrapText(expand(part), 100) : columns(part)),
      '',
    ]),
    'Examples:',
    ...columns(examples.filter(isPossible).map(([line, meaning]) => [expandExample(line), meaning])),
    '',
    'Flags:',
    ...columns(
      [...flags.filter((flag) => flag.hidden !== true && hasFlag(flag)), ...commonFlags].map(flagRow),
    ),
    ...(exits === undefined ? [] : ['', 'Exit codes:', ...columns(exitRows([...exits, ...special]))]),
    '',
  ];
  return expand(lines.join('\n'));
}

/** Exit codes in order; if one has two meanings, the last one counts. */
export function exitRows(exits: readonly (readonly [code: number, meaning: string])[]): HelpRow[] {
  return [...new Map(exits)].sort(([a], [b]) => a - b).map(([code, meaning]) => [String(code), meaning]);
}

/** Two columns, the first as wide as necessary. */
export function columns(rows: readonly HelpRow[], indent = '  '): string[] {
  const widest = Math.max(...rows.map(([left]) => left.length));
  // A meaning may have several lines.
  const below = `\n${indent}${' '.repeat(widest)}  `;
  return rows.map(([left, right]) =>
    `${indent}${left.padEnd(widest)}  ${right.replaceAll('\n', below)}`.trimEnd(),
  );
}

/** Wraps a paragraph into lines of at most `limit` characters. */
export function wrapText(text: string, limit: number): string[] {
  // A text with line breaks is a table.
  if (text.includes('\n')) return text.split('\n');
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

/** A flag and what it does, for `columns`. */
export function flagRow({ name, short, value, optional, many, summary }: Flag): HelpRow {
  const shown = optional === true ? ` [${value ?? ''}]` : value === undefined ? '' : ` ${value}`;
  const long = `--${name}${shown}${many === true ? ' …' : ''}`;
  return [short === undefined ? long : `${long}, -${short}`, summary];
}
