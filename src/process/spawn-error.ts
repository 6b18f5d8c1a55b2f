import { accessSync, constants, statSync } from 'node:fs';
import type { ErrorCode } from '../shared/error-codes.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { printableLine } from '../shared/printable.ts';
import {
  commandNotExecutable,
  commandNotFound,
  directoryUnusable,
  type CommandProblem,
} from './command-problems.ts';
import { findCommand } from './find-command.ts';

export interface SpawnAttempt {
  /** Its name in logs and errors. */
  readonly name: string;
  readonly command: string;
  readonly cwd: string;
  /** The complete environment; only the cookies of the runs it belongs to are added. */
  readonly env: Readonly<Record<string, string>>;
  /** Command and directory to show in errors if the real ones contain secrets. Default: the real ones. */
  readonly shown?: { readonly command: string; readonly cwd: string };
}

/** Why a program could not be started, and what to do about it. Never shows arguments or environment. */
export function explainSpawnError(attempt: SpawnAttempt, cause: unknown): SwitchboardError {
  if (cause instanceof SwitchboardError) return cause;
  const code = nodeErrorCode(cause) ?? 'unknown error';
  const who = `"${printableLine(attempt.name)}" could not be started:`;
  const command = printableLine(attempt.shown?.command ?? attempt.command);
  const because = (kind: ErrorCode, reason: string, hint: string): SwitchboardError =>
    new SwitchboardError(kind, `${who} ${reason} (${code}).`, { hint, cause });
  const known = (kind: ErrorCode, { message, hint }: CommandProblem): SwitchboardError =>
    because(kind, message, hint);

  // The system reports ENOENT and EACCES for both the working directory and the command.
  const directory = directoryProblem(attempt.cwd);
  if (directory !== undefined && ['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) {
    const cwd = printableLine(attempt.shown?.cwd ?? attempt.cwd);
    return known('CWD_NOT_USABLE', directoryUnusable(cwd, directory));
  }
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return findCommand(attempt.command, attempt).kind !== 'missing'
        ? because(
            'COMMAND_NOT_RUNNABLE',
            `the interpreter in the first line of "${command}" does not exist`,
            'Install that interpreter or correct the first line of the file.',
          )
        : known('COMMAND_NOT_FOUND', commandNotFound(command));
    case 'EACCES':
    case 'EPERM':
      return known('COMMAND_NOT_EXECUTABLE', commandNotExecutable(command));
    case 'E2BIG':
    case 'ENAMETOOLONG':
      return because(
        'ARGUMENTS_TOO_LONG',
        'its arguments and environment together are longer than the system allows',
        'Shorten "args" or "env", or pass large values in a file.',
      );
    case 'EMFILE':
    case 'ENFILE':
      return because(
        'TOO_MANY_OPEN_FILES',
        'too many files are open',
        'Raise the limit (ulimit -n) or run fewer servers.',
      );
    case 'EAGAIN':
    case 'ENOMEM':
      return because(
        'TOO_MANY_PROCESSES',
        'the system cannot create another process',
        'End other programs, raise the limit (ulimit -u) or run fewer servers.',
      );
    case 'ERR_INVALID_ARG_VALUE':
      return because(
        'COMMAND_NOT_RUNNABLE',
        'its command, arguments or environment contain a NUL character',
        'Remove it from the definition.',
      );
    default:
      return because(
        'SPAWN_FAILED',
        `the system refused to run "${command}"`,
        'Run the command by hand to see more.',
      );
  }
}

function directoryProblem(cwd: string): string | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return 'is not a directory';
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    return nodeErrorCode(error) === 'ENOENT' ? 'does not exist' : 'cannot be entered: permission denied';
  }
}
