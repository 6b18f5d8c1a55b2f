import { printableLine } from '../../../shared/printable.ts';
import { firstWordAt, tokenize, type Flag } from '../arguments.ts';
import type { CommandEntry } from '../command.ts';
import { writeOutcome } from '../output.ts';

/** A candidate for a word, and what it means, if that helps. */
export type Completion = readonly [word: string, meaning: string];

/** A program as completion sees it, from the same tables that the program and its help use. */
export interface CompletedProgram {
  readonly commands: readonly CompletedCommand[];
  /** Flags that work without a command. */
  readonly topFlags: readonly Flag[];
  /** Flags of every command. */
  readonly commonFlags: readonly Flag[];
  /** The existing names of a kind, such as `server`; a kind is the placeholder in the help, in lower case. */
  names(kind: string, typed: TypedSoFar): Promise<readonly Completion[]>;
}

export type CompletedCommand = CommandEntry<never>;

/** The words before the one that is being completed. */
export interface TypedSoFar {
  readonly command: string;
  /** The values of the flags so far. */
  readonly values: ReadonlyMap<string, string>;
}

/**
 * Candidates for the last word, which may be incomplete or empty: lines of `word TAB meaning`, or `:files` or
 * `:directories` to let the shell complete paths.
 */
export async function candidates(
  typed: readonly string[],
  program: CompletedProgram,
): Promise<readonly string[]> {
  // bash splits `--branch=feature` at the equals sign.
  const words = typed.filter((word) => word !== '=');
  const current = typed.at(-1) === '=' ? '' : (typed.at(-1) ?? '');
  const before = typed.at(-1) === '=' ? words : words.slice(0, -1);
  const [given, value] = split(current);
  const found = await find(before, given, value, program);
  const prefix = value === undefined ? '' : `${given}=`;
  return found
    .filter(([word]) => leftToShell(word) || word.startsWith(value ?? given))
    .map(([word, meaning]) => {
      const shown = leftToShell(word) ? word : prefix + word;
      return meaning === '' ? shown : `${shown}\t${printableLine(meaning)}`;
    });
}

const FILES = ':files';
const DIRECTORIES = ':directories';

function leftToShell(word: string): boolean {
  return word === FILES || word === DIRECTORIES;
}

/** `--branch=fea` is a flag and the beginning of its value. */
function split(word: string): readonly [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

async function find(
  before: readonly string[],
  current: string,
  value: string | undefined,
  program: CompletedProgram,
): Promise<readonly Completion[]> {
  const { topFlags, commands } = program;
  const at = firstWordAt(before, topFlags);
  const top = read(before.slice(0, at), topFlags);
  const name = before[at];
  if (name === undefined || name === 'help') {
    const awaited = awaitedValue(top.open, current, value, topFlags);
    if (awaited !== undefined) return named(awaited, { command: '', values: top.values }, program);
    if (current.startsWith('-')) return flagWords(topFlags, top.values);
    return before.at(-1) === 'help' || name === undefined ? commandNames(commands) : [];
  }
  const first = commands.find((each) => each.name === name);
  if (first === undefined) return [];
  const rest = before.slice(at + 1);
  const part = await partOf(first, rest, program);
  const command = part ?? first;
  const flags = [...program.commonFlags, ...(await command.load()).flags];
  const here = read(rest, flags);
  // After `--` comes the command line of another program.
  if (here.closed) return [[FILES, '']];
  const typed = { command: command.name, values: new Map([...top.values, ...here.values]) };
  const awaited = awaitedValue(here.open, current, value, flags);
  if (awaited !== undefined) return named(awaited, typed, program);
  if (current.startsWith('-')) return flagWords(flags, typed.values);
  const words = part === undefined ? here.words : here.words.slice(1);
  const seconds =
    words.length > 0 || part !== undefined
      ? []
      : (first.parts ?? []).map((each) => [each.name.slice(name.length + 1), each.summary] as const);
  const kinds = placesAt(words.length, command.words);
  const found = await Promise.all(kinds.map((kind) => named(kind, typed, program)));
  return [...seconds, ...found.flat()].filter(([word]) => !words.includes(word));
}

/** The subcommand that the second word names. */
async function partOf(
  { name, parts, load }: CompletedCommand,
  rest: readonly string[],
  { commonFlags }: CompletedProgram,
): Promise<CompletedCommand | undefined> {
  if (parts === undefined) return undefined;
  const second = rest[firstWordAt(rest, [...commonFlags, ...(await load()).flags])];
  return parts.find((part) => part.name === `${name} ${second ?? ''}`);
}

/** The kind of value that is being typed after a flag. */
function awaitedValue(
  open: Flag | undefined,
  current: string,
  value: string | undefined,
  flags: readonly Flag[],
): string | undefined {
  const flag = value === undefined ? open : flags.find(({ name }) => `--${name}` === current);
  return flag?.value;
}

function commandNames(commands: readonly CompletedCommand[]): readonly Completion[] {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  return [...shown.map(({ name, summary }) => [name, summary] as const), ['help', 'show help for a command']];
}

/** The flags that may still be given. */
function flagWords(flags: readonly Flag[], given: ReadonlyMap<string, string>): readonly Completion[] {
  return flags
    .filter(({ name, hidden, many }) => hidden !== true && (many === true || !given.has(name)))
    .map(({ name, summary }) => [`--${name}`, summary]);
}

interface Read {
  readonly words: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  /** The flag whose value comes next. */
  readonly open: Flag | undefined;
  /** Whether there was a `--`. */
  readonly closed: boolean;
}

function read(argv: readonly string[], flags: readonly Flag[]): Read {
  const tokens = tokenize(argv, flags);
  const last = tokens.at(-1);
  const isOpen = last?.kind === 'flag' && last.value === undefined && last.flag?.optional !== true;
  return {
    words: tokens.flatMap((token) => (token.kind === 'word' ? [token.text] : [])),
    values: new Map(
      tokens.flatMap((token) =>
        token.kind === 'flag' && token.flag !== undefined
          ? [[token.flag.name, token.value ?? ''] as const]
          : [],
      ),
    ),
    open: isOpen ? last.flag : undefined,
    closed: tokens.some(({ kind }) => kind === 'end'),
  };
}

/** What the next word may be, for example `branch` and `service` if `[branch] [service…]` is still to come. */
function placesAt(at: number, usage: string): readonly string[] {
  const places = usage === '' ? [] : usage.split(' ');
  const last = places.length - 1;
  const first = at > last && places[last]?.includes('…') ? last : at;
  const found: string[] = [];
  for (const place of places.slice(first)) {
    if (!/^[<[]/.test(place)) break;
    found.push(place.replace(/[<>[\]\u2026]/g, ''));
    // An optional word may be left out.
    if (!place.startsWith('[')) break;
  }
  return found;
}

/** `a|b` lists the words themselves; free values, such as numbers, have no candidates. */
async function named(
  kind: string,
  typed: TypedSoFar,
  program: CompletedProgram,
): Promise<readonly Completion[]> {
  if (kind.includes('|')) return kind.split('|').map((word) => [word, '']);
  switch (kind.toLowerCase()) {
    case 'dir':
      return [[DIRECTORIES, '']];
    case 'file':
    case 'path':
      return [[FILES, '']];
    default:
      return program.names(kind.toLowerCase(), typed);
  }
}

/** Prints the candidates for the last word, for a shell. Returns the exit code. */
export async function complete(
  typed: readonly string[],
  load: () => Promise<CompletedProgram>,
): Promise<number> {
  try {
    const text = (await candidates(typed, await load())).map((line) => `${line}\n`).join('');
    await writeOutcome({ data: undefined, text: () => text }, false);
  } catch {
    // The user is in the middle of typing a line and must not see an error.
  }
  return 0;
}
