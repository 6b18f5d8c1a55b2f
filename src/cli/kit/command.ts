import type { Flag, ParsedArguments } from './arguments.ts';
import type { Style } from './style.ts';

/** A command as lists, help and completion see it; the rest is loaded when it is called. `C` is what it runs with. */
export interface CommandEntry<C> {
  readonly name: string;
  /** The words it takes, for example `<branch> [service…]`; completion reads them too. */
  readonly words: string;
  readonly summary: string;
  /** Whether help and completion leave it out. Default false. */
  readonly hidden?: boolean;
  /** Further commands under a second word; their names have both. Default none. */
  readonly parts?: readonly CommandEntry<C>[];
  readonly load: () => Promise<Command<C>>;
}

/**
 * One thing a program can be asked to do. It returns its result; the caller prints it. In the texts of the help, `$0` is
 * replaced by the program's name.
 */
export interface Command<C> {
  /** The words it takes, where its own help has more to say than the list. Default: as in the list. */
  readonly words?: string;
  /** The same for what it does. */
  readonly summary?: string;
  /** What to know before using it: paragraphs, and lists of terms with their meanings. */
  readonly about: readonly (string | readonly HelpRow[])[];
  /** Flags of its own, besides the common ones. */
  readonly flags: readonly Flag[];
  /** If its last words are the command line of another program: how many words precede it. Default: they are not. */
  readonly commandAt?: number;
  /** Other ways to write its arguments, in its own words. Default: there are none. */
  readonly spellOut?: (argv: readonly string[]) => readonly string[];
  /** What to type, and what that does. */
  readonly examples: readonly HelpRow[];
  /** The exit codes that mean something special here, beside those all commands share. */
  readonly exits?: readonly (readonly [code: number, meaning: string])[];
  run(given: ParsedArguments, context: C): Promise<CommandOutcome>;
}

export type HelpRow = readonly [term: string, meaning: string];

export interface CommandOutcome {
  /** Default 0. */
  readonly exitCode?: number;
  /** What `--json` prints. */
  readonly data: unknown;
  /** What a person reads. Everything in it that comes from outside is safe to print. */
  text(style: Style): string;
  /** For stderr, whatever goes to stdout. */
  readonly remark?: string | undefined;
  /** For stderr, unless `--json` says the same on stdout. */
  readonly complaint?: string | undefined;
}
