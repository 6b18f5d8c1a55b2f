import { isAbsolute, win32 } from 'node:path';

export interface PathProblem {
  /** The rule that the path breaks. */
  readonly rule: string;
  /** A sentence. */
  readonly hint: string;
}

/** Why a path is not below the project. `what` is, for example, `an env path`. */
export function innerPathProblem(path: string, what: string): PathProblem | undefined {
  // Reject both POSIX and Windows absolute paths everywhere, so that a file means the same on every machine.
  if (isAbsolute(path) || win32.isAbsolute(path) || path.startsWith('~')) {
    return { rule: `${what} must be relative`, hint: 'Write it relative to the project root.' };
  }
  if (path.split(/[\\/]/).some((part) => part === '' || part === '.' || part === '..')) {
    return {
      rule: `${what} must stay inside the project, without ".", ".." or empty parts`,
      hint: 'Name a file or directory below the project root.',
    };
  }
  return undefined;
}
