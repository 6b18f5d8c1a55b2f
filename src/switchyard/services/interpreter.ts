import { findExecutable } from '../../process/index.ts';

/**
 * The command with an interpreter that is there: without `node` on the PATH the one that runs us, without `python` the
 * `python3` that many systems have instead. Whatever else is missing stays, so that the error names it.
 */
export function withInterpreter(
  argv: readonly string[],
  search: { readonly cwd: string; readonly path: string | undefined },
): readonly string[] {
  const [command = '', ...args] = argv;
  const substitute = command === 'node' ? process.execPath : command === 'python' ? 'python3' : undefined;
  if (substitute === undefined || findExecutable(command, search) !== undefined) return argv;
  return findExecutable(substitute, search) === undefined ? argv : [substitute, ...args];
}
