import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';

/** `--name`, or `--name VALUE` where `value` is given. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in the help, for example `PATH`; without it the flag takes none. */
  readonly value?: string;
  /** Whether the value may be left out; it is empty then. Default false. */
  readonly optional?: boolean;
  /** Whether it is about clients that connect, which not every program serves. Default false. */
  readonly forHttp?: boolean;
  /** Whether it chooses between the user's file and the project's, which only `switchboard` has. Default false. */
  readonly forLayers?: boolean;
  /** Whether it may be given several times, each with a value of its own. Default false: a second one is refused. */
  readonly many?: boolean;
  /** Whether the help leaves it out. Default false. */
  readonly hidden?: boolean;
  /** What it does, as part of a sentence. `$0` and `$CONFIG` as in `inWordsOf`. */
  readonly summary: string;
}

export interface ParsedArguments {
  /** The value of each flag that was given; empty for one that takes none. */
  readonly flags: ReadonlyMap<string, string>;
  /** All the values of each flag that may be given several times, in their order. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

/** Flags that every command takes, before or after its name. */
export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: 'config',
    short: 'c',
    value: 'PATH',
    summary: 'read only this configuration file (default: $DEFAULT)',
  },
  {
    name: 'log-level',
    value: 'LEVEL',
    summary: 'debug, info, warn, error or silent; also SWITCHBOARD_LOG_LEVEL',
  },
  {
    name: 'log-time',
    summary: 'start log lines with the time on a terminal too; elsewhere they always do',
  },
  {
    name: 'allow-project',
    summary: "use this project's files without asking; also SWITCHBOARD_ALLOW_PROJECT=1",
  },
  { name: 'json', summary: 'print JSON' },
  { name: 'help', short: 'h', summary: 'show this help' },
];

/** Flags that need no command. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  ...COMMON_FLAGS,
  { name: 'dry-run', summary: 'start every server once and show what a host would see' },
  { name: 'stdio', summary: 'serve on stdin and stdout even when stdin is a terminal' },
  {
    name: 'http',
    value: '[HOST:]PORT',
    optional: true,
    forHttp: true,
    summary: 'serve clients over Streamable HTTP and SSE (default 127.0.0.1:3006)',
  },
  { name: 'sse', value: '[HOST:]PORT', optional: true, forHttp: true, summary: 'the same as --http' },
  { name: 'allow-remote', forHttp: true, summary: 'with --http: accept connections from other machines' },
  { name: 'show-token', forHttp: true, summary: 'with --http: print the token that clients need' },
  { name: 'version', short: 'v', summary: 'print the version' },
];

/**
 * Separates flags from words. Everything after `--` is a word. `-n20` is `-n 20`. Throws USAGE for an unknown or repeated flag.
 *
 * If the last words are the command line of another program, `commandAt` says how many words precede it. Anything that looks
 * like a flag in there is refused, unless `--` directly precedes it: it would be ambiguous whose flag it is.
 */
export function parseArguments(
  argv: readonly string[],
  known: readonly Flag[],
  commandAt = Infinity,
): ParsedArguments {
  const flags = new Map<string, string>();
  const lists = new Map<string, string[]>();
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === '--') {
      if (commandAt !== Infinity && words.length !== commandAt)
        throw usage(
          'Put -- directly before the command.',
          'Write NAME -- COMMAND, and our flags before the --.',
        );
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      continue;
    }
    if (words.length > commandAt) {
      const line = [...words.slice(0, commandAt), '--', words[commandAt], '…'].join(' ');
      throw usage(
        `The flag ${JSON.stringify(nameOf(word))} is ambiguous: it could be ours or the command's.`,
        `Put -- before the command, and our own flags before that: ${line}`,
      );
    }
    const { flag, given } = findFlag(word, known);
    if (flag.many !== true && flags.has(flag.name)) throw repeatedFlag(flag.name);
    if (flag.value === undefined) {
      if (given !== undefined) throw usage(`--${flag.name} takes no value.`);
      flags.set(flag.name, '');
      continue;
    }
    const next = argv[at + 1];
    if (flag.optional === true && given === undefined && (next === undefined || next.startsWith('-'))) {
      flags.set(flag.name, '');
      continue;
    }
    const value = given ?? argv[++at];
    // A flag where the value should be is a value that was forgotten.
    if (value === undefined || value === '' || (given === undefined && value.startsWith('--'))) {
      throw usage(`--${flag.name} needs a value.`, `Write --${flag.name} ${flag.value}.`);
    }
    flags.set(flag.name, value);
    if (flag.many === true) lists.set(flag.name, [...(lists.get(flag.name) ?? []), value]);
  }
  return { flags, lists, words };
}

/** A mistake in what was typed; it ends with exit code 2. */
export function usage(message: string, hint?: string): SwitchboardError {
  return new SwitchboardError('USAGE', message, { hint });
}

/** Throws USAGE where both flags of a pair are given. */
export function refuseContradictions(
  { flags }: ParsedArguments,
  pairs: readonly (readonly [one: string, other: string])[],
): void {
  const both = pairs.find(([one, other]) => flags.has(one) && flags.has(other));
  if (both !== undefined)
    throw usage(`--${both[0]} and --${both[1]} cannot be combined.`, 'Remove one of them.');
}

/** It is unclear which of the two was meant. */
export function repeatedFlag(flag: string): SwitchboardError {
  return usage(`--${flag} is given twice.`, 'Remove one of them.');
}

/** The value after the `=` may be a secret. */
function nameOf(word: string): string {
  return word.split('=', 1)[0]!;
}

function findFlag(word: string, known: readonly Flag[]): { flag: Flag; given: string | undefined } {
  const attached = /^-([^-=])([^=].*)$/s.exec(word);
  const taker = attached && known.find((each) => each.short === attached[1] && each.value !== undefined);
  if (taker) return { flag: taker, given: attached[2] };
  const equals = word.indexOf('=');
  const name = nameOf(word);
  const given = equals === -1 ? undefined : word.slice(equals + 1);
  const flag = known.find((each) => name === `--${each.name}` || name === `-${each.short ?? ''}`);
  if (flag !== undefined) return { flag, given };
  const guess = didYouMean(
    name,
    known.map((each) => `--${each.name}`),
  );
  throw usage(`Unknown flag ${JSON.stringify(name)}.`, guess ?? 'Add --help to list the flags.');
}
