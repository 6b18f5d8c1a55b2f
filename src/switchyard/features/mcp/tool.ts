import type { JsonObject } from '../../../protocol/index.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { OnEvent } from '../../runtime/events.ts';
import type { ArgumentSpec, ArgumentSpecs, CheckedArguments } from './arguments.ts';

/** A tool for agents, acting on one project. */
export interface YardTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: ToolAnnotations;
  /** Without `cwd`, which all tools take. */
  readonly arguments: ArgumentSpecs;
  /** Which of them the command with the same name accepts as positional arguments, in order. Default: none. */
  readonly words?: readonly string[];
  /** The schema of its result. */
  readonly output: JsonObject;
  /** Whether it also works if the file of the project is broken or gone. Default false. */
  readonly orRecorded?: true;
  /** Whether it runs commands of the project's file. Default false. */
  readonly runsCommands?: true;
  run(yard: YardContext, given: CheckedArguments, hooks: ToolCallHooks): Promise<ToolOutput>;
}

/** What clients know about a tool before they let a model use it. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Hooks of a running tool. */
export interface ToolCallHooks {
  /** Aborted when the result is no longer awaited. Stops the waiting, not the work. */
  readonly signal: AbortSignal;
  readonly onEvent: OnEvent;
}

export interface ToolOutput {
  readonly data: object;
  /** The result as text. Default: the data as JSON. */
  readonly text?: string;
  /** Warnings that the data alone does not show, one sentence each. Default none. */
  readonly notes?: readonly string[];
  /** Whether a part of the request failed. Default false. */
  readonly failed?: boolean;
}

/** For tools that change nothing. */
export const READ_ONLY: ToolAnnotations = {
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

/** For tools that act on one branch. */
export const BRANCH_ARGUMENT: ArgumentSpec = {
  kind: 'text',
  description:
    'The branch, by its name or its slug. Default: the registered worktree branch, else the one git has checked out.',
};

/** For tools that may act on all branches. */
export const SCOPE_ARGUMENT: ArgumentSpec = {
  kind: 'text',
  description:
    'The branch, by its name or its slug. Default: the registered worktree branch of cwd; from the project root, all branches.',
};

export const SERVICES_ARGUMENT: ArgumentSpec = {
  kind: 'texts',
  description: 'Names of services, from configured_services of the brief. Default: all.',
};
