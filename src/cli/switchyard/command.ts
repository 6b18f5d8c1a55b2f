import type { YardContext } from '../../switchyard/index.ts';
import type { ParsedArguments, Flag } from '../arguments.ts';
import type { CommandOutcome } from '../command.ts';

/** One command of `switchyard`; its name and arguments are in the list of commands. */
export interface YardCommand {
  /** What to know before using it: paragraphs, and lists of terms with their meanings. */
  readonly about: readonly (string | readonly (readonly [term: string, meaning: string])[])[];
  /** Flags of its own, besides the common ones. The placeholder of a value also selects its completion. */
  readonly flags: readonly Flag[];
  /** A command line and what it does; `$0` is the program name. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  run(given: ParsedArguments, invocation: YardInvocation): Promise<CommandOutcome>;
}

/** The directory, environment and output format of one call. */
export interface YardInvocation {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether to print JSON. */
  readonly json: boolean;
  /** Runs `work` for the project of `cwd`. */
  inYard(work: (yard: YardContext) => Promise<CommandOutcome>): Promise<CommandOutcome>;
  /**
   * The same for commands that also work if switchyard.toml is broken or gone (status, stopping). `project` is the name
   * or path of another project.
   */
  inRecordedYard(
    work: (yard: YardContext) => Promise<CommandOutcome>,
    project?: string,
  ): Promise<CommandOutcome>;
}

/** Flags that every command takes. */
export const YARD_FLAGS: readonly Flag[] = [
  { name: 'json', summary: 'print JSON' },
  { name: 'help', short: 'h', summary: 'show this help' },
];

/** Flags that need no command. */
export const YARD_TOP_FLAGS: readonly Flag[] = [
  ...YARD_FLAGS,
  { name: 'version', short: 'v', summary: 'print the version' },
];
