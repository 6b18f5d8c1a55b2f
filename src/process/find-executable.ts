import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, join, resolve } from 'node:path';

export interface ExecutableSearch {
  /** Where the program will run: relative commands and relative places of the PATH start there. */
  readonly cwd: string;
  /** The PATH that the program will get, not ours. Undefined means the system's usual places. */
  readonly path: string | undefined;
  /** Default: the system we run on. */
  readonly platform?: NodeJS.Platform;
}

/** The file that a command stands for, as the system finds it; undefined when there is none that may be executed. */
export function findExecutable(
  command: string,
  { cwd, path, platform = process.platform }: ExecutableSearch,
): string | undefined {
  if (command === '') return undefined;
  const windows = platform === 'win32';
  const isPath = command.includes('/') || (windows && command.includes('\\'));
  const places = isPath ? [''] : (path ?? '/usr/bin:/bin').split(delimiter);
  const endings = windows && extname(command) === '' ? ['.com', '.exe', '.bat', '.cmd'] : [''];
  for (const place of places) {
    for (const ending of endings) {
      const file = resolve(cwd, join(place, command + ending));
      if (isExecutable(file)) return file;
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    // A directory may be "executed" too: that is how it is entered.
    if (!statSync(file).isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
