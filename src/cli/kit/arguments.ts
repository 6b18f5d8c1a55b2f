import { parseArgs, type ParseArgsConfig } from 'node:util';
import { SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';

/** `--name`, or `--name VALUE` where `value` is given. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  /**
   * Placeholder of the value in the help, for example `PATH`; without it, the flag takes no value. Completion reads it
   * too.
   */
  readonly value?: string;
  /** Whether the value is optional; if omitted, it is empty. Default false. */
  readonly optional?: boolean;
  /** Whether it is about serving clients over HTTP, which not every program does. Default false. */
  readonly forHttp?: boolean;
  /** Whether it chooses between the user file and the project file, which only `switchboard` has. Default false. */
  readonly forLayers?: boolean;
  /** Whether it may be given several times, each time with a value. Default false: a second one is refused. */
  readonly many?: boolean;
  /** Whether the help leaves it out. Default false. */
  readonly hidden?: boolean;
  /** The command that it runs by itself, if any. */
  readonly runs?: string;
  /** What it does, as part of a sentence. Placeholders are replaced. */
  readonly summary: string;
}

export interface ParsedArguments {
  /** The value of each given flag; empty for one that takes none. */
  readonly flags: ReadonlyMap<string, string>;
  /** All values of each flag that may be given several times, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

/** A part of a command line; `at` is its position. */
export type ArgumentToken =
  | { readonly kind: 'word'; readonly at: number; readonly text: string }
  /** `--`: only words follow. */
  | { readonly kind: 'end'; readonly at: number }
  | {
      readonly kind: 'flag';
      readonly at: number;
      /** As typed, without the value, which may be a secret. */
      readonly typed: string;
      /** Undefined if it is unknown. */
      readonly flag: Flag | undefined;
      readonly value: string | undefined;
      /** Whether the value is part of the same word. */
      readonly attached: boolean;
    };

/** Splits a command line into tokens, valid or not. `-n20` and `-n=20` mean `-n 20`. */
export function tokenize(argv: readonly string[], known: readonly Flag[]): readonly ArgumentToken[] {
  // Hosts start us without arguments. Node loads its parser on first use.
  if (argv.length === 0) return [];
  const options: ParseArgsConfig['options'] = {};
  for (const { name, short, value, optional } of known)
    options[name] = {
      type: value !== undefined && optional !== true ? 'string' : 'boolean',
      ...(short === undefined ? {} : { short }),
    };
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const found: ArgumentToken[] = [];
  for (const token of tokens) {
    const last = found.at(-1);
    if (token.kind === 'option-terminator') found.push({ kind: 'end', at: token.index });
    else if (token.kind === 'option') {
      // `-xyz` is one unknown flag, not three.
      if (last?.at !== token.index) found.push(flagToken(token, argv[token.index] ?? token.rawName, known));
    } else if (last?.kind === 'flag' && takesNext(last, token))
      found[found.length - 1] = { ...last, value: token.value };
    else found.push({ kind: 'word', at: token.index, text: token.value });
  }
  return found;
}

type FlagToken = Extract<ArgumentToken, { kind: 'flag' }>;

function flagToken(
  token: { readonly index: number; readonly rawName: string; readonly value: string | undefined },
  word: string,
  known: readonly Flag[],
): FlagToken {
  const at = token.index;
  const [typed = word] = word.split('=', 1);
  const named = (name: string) => (flag: Flag) =>
    name === `--${flag.name}` || name === `-${flag.short ?? ''}`;
  const flag = known.find(named(typed));
  if (flag !== undefined && typed !== word)
    return { kind: 'flag', at, typed, flag, value: word.slice(typed.length + 1), attached: true };
  if (flag !== undefined) return { kind: 'flag', at, typed, flag, value: token.value, attached: false };
  const taker = known.find((each) => each.value !== undefined && named(token.rawName)(each));
  const isShort = taker !== undefined && !typed.startsWith('--');
  return isShort
    ? { kind: 'flag', at, typed: token.rawName, flag: taker, value: word.slice(2), attached: true }
    : { kind: 'flag', at, typed, flag: undefined, value: undefined, attached: false };
}

/** Whether a word is the value of the flag before it, which may have none. */
function takesNext(
  { flag, value, at }: FlagToken,
  next: { readonly index: number; readonly value: string },
): boolean {
  return (
    flag?.optional === true && value === undefined && next.index === at + 1 && !next.value.startsWith('-')
  );
}

/** The position of the first word that is neither a flag nor a flag's value; after the end if there is none. */
export function firstWordAt(argv: readonly string[], known: readonly Flag[]): number {
  return tokenize(argv, known).find(({ kind }) => kind === 'word')?.at ?? argv.length;
}

/**
 * Separates flags from words. Everything after `--` is a word. Throws USAGE for an unknown or repeated flag. If the
 * last words are the command line of another program, `commandAt` says how many words precede it. Anything in it that
 * looks like a flag is refused unless `--` comes directly before it, because it would be ambiguous whose flag it is.
 */
export function parseArguments(
  argv: readonly string[],
  known: readonly Flag[],
  commandAt = Infinity,
): ParsedArguments {
  const flags = new Map<string, string>();
  const lists = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokenize(argv, known)) {
    if (token.kind === 'word') {
      words.push(token.text);
      continue;
    }
    if (token.kind === 'end') {
      if (commandAt !== Infinity && words.length !== commandAt)
        throw usage(
          'Put -- directly before the command.',
          'Write NAME -- COMMAND, and our flags before the --.',
        );
      continue;
    }
    if (words.length > commandAt) throw ambiguous(token, words, commandAt);
    const { flag } = token;
    if (flag === undefined) throw unknownFlag(token, known);
    if (flag.many !== true && flags.has(flag.name)) throw repeatedFlag(flag.name);
    const value = valueOf(token, flag);
    flags.set(flag.name, value);
    if (flag.many === true) lists.set(flag.name, [...(lists.get(flag.name) ?? []), value]);
  }
  return { flags, lists, words };
}

function valueOf({ value, attached }: FlagToken, flag: Flag): string {
  if (flag.value === undefined) {
    if (attached) throw usage(`--${flag.name} takes no value.`);
    return '';
  }
  if (value === undefined && flag.optional === true) return '';
  // A flag in place of the value means that the value was forgotten.
  if (value === undefined || value === '' || (!attached && value.startsWith('--')))
    throw usage(`--${flag.name} needs a value.`, `Write --${flag.name} ${flag.value}.`);
  return value;
}

/** A usage error; it ends with exit code 2. */
export function usage(message: string, hint?: string): SwitchboardError {
  return new SwitchboardError('USAGE', message, { hint });
}

/** Throws USAGE if both flags of a pair are given. */
export function refuseContradictions(
  { flags }: ParsedArguments,
  pairs: readonly (readonly [one: string, other: string])[],
): void {
  const both = pairs.find(([one, other]) => flags.has(one) && flags.has(other));
  if (both !== undefined)
    throw usage(`--${both[0]} and --${both[1]} cannot be combined.`, 'Remove one of them.');
}

/** Only one value can be meant. */
export function repeatedFlag(flag: string): SwitchboardError {
  return usage(`--${flag} is given twice.`, 'Remove one of them.');
}

function ambiguous({ typed }: FlagToken, words: readonly string[], commandAt: number): SwitchboardError {
  const line = [...words.slice(0, commandAt), '--', words[commandAt], '…'].join(' ');
  return usage(
    `The flag ${JSON.stringify(typed)} is ambiguous: it could be ours or the command's.`,
    `Put -- before the command, and our own flags before that: ${line}`,
  );
}

function unknownFlag({ typed }: FlagToken, known: readonly Flag[]): SwitchboardError {
  const guess = didYouMean(
    typed,
    known.map(({ name }) => `--${name}`),
  );
  return usage(`Unknown flag ${JSON.stringify(typed)}.`, guess ?? 'Add --help to list the flags.');
}
