import { printableLine } from '../../shared/printable.ts';
import type { Flag } from '../arguments.ts';
import { YARD_FLAGS } from './command.ts';
import { YARD_COMMANDS } from './commands.ts';

export interface CandidateOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What a word can be, and what it means if that helps. */
export type Candidate = readonly [word: string, meaning: string];

/**
 * What may stand in the place of the last word, which is only begun or still empty: lines of `word TAB meaning`, or
 * `:directories` where the shell knows better.
 */
export async function candidates(
  typed: readonly string[],
  options: CandidateOptions,
): Promise<readonly string[]> {
  // bash takes `--branch=feature` apart at the sign.
  const words = typed.filter((word) => word !== '=');
  const current = typed.at(-1) === '=' ? '' : (typed.at(-1) ?? '');
  const before = typed.at(-1) === '=' ? words : words.slice(0, -1);
  const [given, value] = split(current);
  const found = await find(before, given, value, options);
  const prefix = value === undefined ? '' : `${given}=`;
  return found
    .filter(([word]) => word === DIRECTORIES || word.startsWith(value ?? given))
    .map(([word, meaning]) => {
      const shown = word === DIRECTORIES ? word : prefix + word;
      return meaning === '' ? shown : `${shown}\t${printableLine(meaning)}`;
    });
}

/** The shell completes these itself. */
const DIRECTORIES = ':directories';

/** `--branch=fea` is a flag and the beginning of its value. */
function split(word: string): readonly [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

async function find(
  before: readonly string[],
  current: string,
  value: string | undefined,
  options: CandidateOptions,
): Promise<readonly Candidate[]> {
  const at = before.findIndex((word) => !word.startsWith('-'));
  const name = at === -1 ? undefined : before[at];
  if (name === undefined || name === 'help')
    return current.startsWith('-') ? flagWords([...YARD_FLAGS, VERSION_FLAG]) : commandNames();
  const entry = YARD_COMMANDS.find((each) => each.name === name);
  if (entry === undefined) return [];
  const flags = [...YARD_FLAGS, ...(await entry.load()).flags];
  const { words, given, open } = read(before.slice(at + 1), flags);
  const awaited = value === undefined ? open : flags.find((flag) => `--${flag.name}` === current);
  if (awaited?.value !== undefined) return named(awaited.value.toLowerCase(), options);
  if (current.startsWith('-')) return flagWords(flags.filter((flag) => !given.has(flag.name)));
  const kinds = kindsAt(words.length, entry.words);
  const found = await Promise.all(
    kinds.map((kind) => named(name === 'create' && kind === 'branch' ? 'ref' : kind, options)),
  );
  return found.flat().filter(([word]) => !words.includes(word));
}

const VERSION_FLAG: Flag = { name: 'version', summary: 'print the version' };

function commandNames(): readonly Candidate[] {
  const shown = YARD_COMMANDS.filter(({ hidden }) => hidden !== true);
  return [...shown.map(({ name, summary }) => [name, summary] as const), ['help', 'how to use a command']];
}

function flagWords(flags: readonly Flag[]): readonly Candidate[] {
  return flags.filter(({ hidden }) => hidden !== true).map(({ name, summary }) => [`--${name}`, summary]);
}

interface Read {
  readonly words: readonly string[];
  readonly given: ReadonlySet<string>;
  /** The flag whose value comes next. */
  readonly open: Flag | undefined;
}

function read(argv: readonly string[], flags: readonly Flag[]): Read {
  const words: string[] = [];
  const given = new Set<string>();
  let open: Flag | undefined;
  for (const word of argv) {
    if (open !== undefined) open = undefined;
    else if (!word.startsWith('-')) words.push(word);
    else {
      const [bare, value] = split(word);
      const flag = flags.find((each) => bare === `--${each.name}` || bare === `-${each.short ?? ''}`);
      if (flag === undefined) continue;
      given.add(flag.name);
      if (flag.value !== undefined && value === undefined) open = flag;
    }
  }
  return { words, given, open };
}

/** What the next of these words may be, for example `branch` and `service` where `[branch] [service…]` is still to come. */
function kindsAt(at: number, usage: string): readonly string[] {
  const places = usage === '' ? [] : usage.split(' ');
  const last = places.length - 1;
  const first = at > last && places[last]?.includes('…') ? last : at;
  const kinds: string[] = [];
  for (const place of places.slice(first)) {
    kinds.push(...place.replace(/[<>[\]\u2026]/g, '').split('|'));
    // What may be left out may be left out now.
    if (!place.startsWith('[')) break;
  }
  return kinds;
}

/** The names there are of a kind; a kind without names is a word itself. */
async function named(kind: string, options: CandidateOptions): Promise<readonly Candidate[]> {
  switch (kind) {
    case 'dir':
      return [[DIRECTORIES, '']];
    case 'branch':
    case 'service':
    case 'profile':
    case 'ref': {
      const { projectNames } = await import('./project-names.ts');
      return projectNames(kind, options);
    }
    default:
      // For example a number that nobody can guess.
      return LITERALS.has(kind) ? [[kind, '']] : [];
  }
}

const LITERALS = new Set(['serve', 'stop', 'show', 'install', 'bash', 'zsh', 'fish']);
