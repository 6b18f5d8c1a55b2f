import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, join, resolve } from 'node:path';

export interface ExecutableSearch {
  /** Working directory of the program: relative commands and relative PATH entries start there. */
  readonly cwd: string;
  /** The PATH of the program, not ours. Undefined means the usual system directories. */
  readonly path: string | undefined;
  /** Default: the system we run on. */
  readonly platform?: NodeJS.Platform;
}

/** Finds the executable file for a command, as the system does; undefined if there is none. */
export function findExecutable(
  command: string,
  { cwd, path, platform = process.platform }: ExecutableSearch,
): string | undefined {
  if (command === '') return undefined;
  const windows = platform === 'win32';
  const isPath = command.includes('/') || (windows && command.includes('\\'));
  const directories = isPath ? [''] : (path ?? '/usr/bin:/bin').split(delimiter);
  const endings = windows && extname(command) === '' ? ['.com', '.exe', '.bat', '.cmd'] : [''];
  for (const directory of directories) {
    for (const ending of endings) {
      const file = resolve(cwd, join(directory, command + ending));
      if (isExecutable(file)) return file;
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    // Directories can be executable too, which allows entering them.
    if (!statSync(file).isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
