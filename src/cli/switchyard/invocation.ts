import {
  contextWarnings,
  openContext,
  openProject,
  type ContextOptions,
  type YardContext,
  unknownNames,
} from '../../switchyard/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { Command, CommandEntry, CommandOutcome } from '../kit/command.ts';
import { printedLines } from '../kit/text.ts';
import { Exit } from '../../shared/exit-codes.ts';

/** One command of `switchyard`; its name and arguments are in the list of commands. */
export type YardCommand = Command<YardInvocation>;
export type YardEntry = CommandEntry<YardInvocation>;

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

export function openInvocation(json: boolean): YardInvocation {
  const here = { cwd: currentDirectory(), env: process.env };
  return {
    ...here,
    json,
    inYard: (work) => inYard(here, work),
    inRecordedYard: (work, project) => inYard({ ...here, project, orRecorded: true }, work),
  };
}

/** A worktree may have been removed while a shell was in it. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new SwitchboardError('NO_DIRECTORY', 'The current directory no longer exists.', {
      hint: 'Change to an existing directory, for example: cd ~',
      cause,
    });
  }
}

interface InYardOptions extends ContextOptions {
  /** A project by name or path. Default: the project of the directory. */
  readonly project?: string | undefined;
}

/** Runs `work` for the project of a directory, or a named one. Prints problems with the records to stderr. */
async function inYard(
  options: InYardOptions,
  work: (yard: YardContext) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { project } = options;
  const yard = project === undefined ? openContext(options) : await openProject({ ...options, project });
  const outcome = await work(yard);
  const told = printedLines(contextWarnings(yard).map((warning) => `warning: ${warning}`));
  return { ...outcome, complaint: told + (outcome.complaint ?? '') };
}

interface Action {
  readonly ok: boolean;
  readonly messages: readonly string[];
}

/** The outcome of an action: prints its messages, one per line. */
export function actionOutcome(action: Action): CommandOutcome {
  return {
    exitCode: action.ok ? Exit.ok : Exit.failed,
    data: action,
    text: () => printedLines(action.messages),
  };
}

/** For an empty result: the message for stderr if the requested branch does not exist. */
export async function unknownBranch(yard: YardContext, branch: string | undefined): Promise<string> {
  return branch === undefined ? '' : printedLines(await unknownNames(yard, { branch }));
}
