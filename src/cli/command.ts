import type { App } from '../app.ts';
import type { LoadedConfig } from '../config/index.ts';
import type { Logger } from '../shared/log.ts';
import type { ParsedArguments, Flag } from './arguments.ts';
import type { CliVariant } from './program-variant.ts';
import type { StatusLine } from './status-line.ts';
import type { Style } from './style.ts';

/**
 * One thing the program can be asked to do. It returns its result; the caller prints it. In the texts of
 * the help, `$0` is replaced by the program's name (see `expandPlaceholders`).
 */
export interface CliCommand {
  readonly name: string;
  /** The words it takes, for example `<server> <tool>`. */
  readonly words?: string;
  readonly summary: string;
  /** What to know before using it, in paragraphs. */
  readonly about: readonly string[];
  /** Flags of its own, besides the common ones. */
  readonly flags: readonly Flag[];
  /** Whether it works without a configuration where the program has none unless it is named. Default false. */
  readonly needsNoConfig?: boolean;
  /** If its last words are the command line of another program: how many words precede it. Default: they are not. */
  readonly commandAt?: number;
  /** Other ways to write its arguments, in its own words. Default: there are none. */
  readonly spellOut?: (argv: readonly string[]) => readonly string[];
  /** What to type, and what that does. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** The exit codes that mean something special here, beside those all commands share. */
  readonly exits?: readonly (readonly [code: number, meaning: string])[];
  run(given: ParsedArguments, context: Context): Promise<CommandOutcome>;
}

export interface CommandOutcome {
  readonly exitCode: number;
  /** What `--json` prints. */
  readonly data: unknown;
  /** What a person reads. Everything in it that comes from outside is safe to print. */
  text(style: Style): string;
  /** For stderr, whatever goes to stdout. */
  readonly remark?: string | undefined;
  /** For stderr, unless `--json` says the same on stdout. */
  readonly complaint?: string | undefined;
}

/** What a command may use of the world. */
export interface Context {
  /** Which program we are. */
  readonly variant: CliVariant;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Where to show what is going on while the person waits. */
  readonly status: StatusLine;
  /** Aborted when the person wants to stop. */
  readonly stop: AbortSignal;
  /**
   * Reads the configuration. Its warnings are logged, unless `quietly`. `strictly`: each of its files must be usable. `or new`:
   * the usual file may be missing. `tells of unusable`: the command itself says which servers cannot be used.
   */
  loadConfig(how?: 'quietly' | 'strictly' | 'or new' | 'tells of unusable'): Promise<LoadedConfig>;
  /**
   * The gateway over this configuration; whatever it starts is ended when the command ends. `startHint` is the next
   * step where a server does not start. Default: `doctor --start`.
   */
  open(config: LoadedConfig, startHint?: string): App;
  /** The last lines a server wrote to stderr, unless they were shown already. */
  unseenOutput(server: string): readonly string[];
}
