import type { JsonObject } from '../../protocol/index.ts';
import type { YardContext } from '../context.ts';
import type { OnEvent } from '../services/events.ts';
import type { ArgumentSpec, ArgumentSpecs, CheckedArguments } from './arguments.ts';

/** Something an agent can ask of a project. */
export interface YardTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: ToolHints;
  /** Without `cwd`, which all of them take. */
  readonly arguments: ArgumentSpecs;
  /** Which of them the command of the same name takes as words, in order. Default none. */
  readonly words?: readonly string[];
  /** The schema of what it returns. */
  readonly output: JsonObject;
  /** Whether it does its work also where the file of the project is broken or gone. Default false. */
  readonly orRecorded?: true;
  /** Whether it runs commands of the project's file. Default false. */
  readonly runsCommands?: true;
  run(yard: YardContext, given: CheckedArguments, hooks: ToolCallHooks): Promise<ToolOutput>;
}

/** What a client may know of a tool before it lets a model use it. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** What goes on while a tool runs. */
export interface ToolCallHooks {
  /** Aborted when nobody waits for the answer any more. It ends the waiting, not what was begun. */
  readonly signal: AbortSignal;
  readonly onEvent: OnEvent;
}

export interface ToolOutput {
  readonly data: object;
  /** The same for a reader. Default: the data as JSON. */
  readonly text?: string;
  /** What a reader of the data alone would get wrong, a sentence each. Default nothing. */
  readonly notes?: readonly string[];
  /** Whether it did not do all it should. Default false. */
  readonly failed?: boolean;
}

/** Nothing is changed by looking. */
export const READ_ONLY: ToolHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

export const CWD_ARGUMENT: ArgumentSpec = {
  kind: 'text',
  description:
    'The directory to act from: in the project, or in a registered worktree, which selects its branch. ' +
    'It defaults to the server launch cwd.',
};

/** For tools that are about one branch. */
export const BRANCH_ARGUMENT: ArgumentSpec = {
  kind: 'text',
  description:
    'The branch, by its name or its slug. Default: the registered worktree branch, else the one git has checked out.',
};

/** For tools that may be about all branches. */
export const SCOPE_ARGUMENT: ArgumentSpec = {
  kind: 'text',
  description:
    'The branch, by its name or its slug. Default: the registered worktree branch of cwd; from the project root, all branches.',
};

export const SERVICES_ARGUMENT: ArgumentSpec = {
  kind: 'texts',
  description: 'Names of services, from configured_services of the brief. Default: all.',
};
