import type { Flag, ParsedArguments } from './arguments.ts';
import type { Style } from './style.ts';

/**
 * A command as lists, help and completion see it; its code is loaded when it is called. `C` is the context it runs
 * with.
 */
export interface CommandEntry<C> {
  readonly name: string;
  /** The words it takes, for example `<branch> [service…]`; completion reads them too. */
  readonly words: string;
  readonly summary: string;
  /** Whether help and completion leave it out. Default false. */
  readonly hidden?: boolean;
  /** Subcommands; their names consist of both words. Default none. */
  readonly parts?: readonly CommandEntry<C>[];
  readonly load: () => Promise<Command<C>>;
}

/**
 * Something a program can do. It returns its result; the caller prints it. In help texts, `$0` is replaced by the
 * program's name.
 */
export interface Command<C> {
  /** The words it takes, if its own help says more than the list. Default: as in the list. */
  readonly words?: string;
  /** The same for its summary. */
  readonly summary?: string;
  /** What to know before using it: paragraphs, and lists of terms with their meanings. */
  readonly about: readonly (string | readonly HelpRow[])[];
  /** Flags of its own, besides the common ones. */
  readonly flags: readonly Flag[];
  /** If its last words are the command line of another program: how many words precede it. Default: they are not. */
  readonly commandAt?: number;
  /** Rewrites alternative ways to write its arguments. Default: there are none. */
  readonly spellOut?: (argv: readonly string[]) => readonly string[];
  /** What to type, and what it does. */
  readonly examples: readonly HelpRow[];
  /** Exit codes with a special meaning here, besides those that all commands share. */
  readonly exits?: readonly (readonly [code: number, meaning: string])[];
  run(given: ParsedArguments, context: C): Promise<CommandOutcome>;
}

export type HelpRow = readonly [term: string, meaning: string];

export interface CommandOutcome {
  /** Default 0. */
  readonly exitCode?: number;
  /** What `--json` prints. */
  readonly data: unknown;
  /** The output for people. Everything that comes from outside must be printable already. */
  text(style: Style): string;
  /** Goes to stderr, whatever goes to stdout. */
  readonly remark?: string | undefined;
  /** Goes to stderr, unless `--json` says the same on stdout. */
  readonly complaint?: string | undefined;
}
