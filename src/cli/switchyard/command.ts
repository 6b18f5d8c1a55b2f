import type { YardContext } from '../../switchyard/index.ts';
import type { ParsedArguments, Flag } from '../arguments.ts';
import type { CommandOutcome } from '../command.ts';

/** One thing `switchyard` can be asked to do; its name and its words stand in the list of commands. */
export interface YardCommand {
  /** What to know before using it, in paragraphs. */
  readonly about: readonly string[];
  /** Flags of its own, besides the common ones. The word that stands for a value also says how to complete it. */
  readonly flags: readonly Flag[];
  /** What to type, and what that does; `$0` stands for the program. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  run(given: ParsedArguments, invocation: YardInvocation): Promise<CommandOutcome>;
}

/** The directory, environment and output format of one call. */
export interface YardInvocation {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether the answer is for a program. */
  readonly json: boolean;
  /** Runs `work` for the project of `cwd`. */
  inYard(work: (yard: YardContext) => Promise<CommandOutcome>): Promise<CommandOutcome>;
  /**
   * The same for commands that also work when switchyard.toml is broken or gone (showing, stopping). `project` is the
   * name or the path of another project.
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

/** Flags without a command. */
export const YARD_TOP_FLAGS: readonly Flag[] = [
  ...YARD_FLAGS,
  { name: 'version', short: 'v', summary: 'print the version' },
];
