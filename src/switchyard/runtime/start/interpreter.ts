import { findExecutable } from '../../../process/index.ts';

/**
 * Replaces a missing interpreter: `node` by the one that runs us, `python` by `python3`, which many systems have
 * instead. Other missing programs stay, so that the error names them.
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
