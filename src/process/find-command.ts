import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { directoriesIn } from './search-path.ts';
import { variableOf } from './variable-of.ts';

/** A command, resolved as the system does when it starts a program. */
export type FoundCommand =
  | { readonly kind: 'found'; readonly file: string }
  | { readonly kind: 'not-executable'; readonly file: string }
  | { readonly kind: 'missing' };

export interface CommandLookup {
  /** The working directory of the program: relative commands and relative PATH entries start there. */
  readonly cwd: string;
  /** The environment the program would get: its PATH is searched, not ours. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the system we run on. */
  readonly platform?: NodeJS.Platform;
}

export function findCommand(
  command: string,
  { cwd, env, platform = process.platform }: CommandLookup,
): FoundCommand {
  const windows = platform === 'win32';
  const isPath = command.includes('/') || (windows && /\\|^[a-z]:/i.test(command));
  const places = isPath ? [''] : directoriesIn(variableOf(env, 'PATH', windows), platform);
  const endings = windows ? endingsOf(command, variableOf(env, 'PATHEXT', true)) : [''];
  let refused: string | undefined;
  for (const place of places) {
    for (const ending of endings) {
      const file = resolve(cwd, join(place, command + ending));
      if (!isFile(file, windows)) continue;
      if (isExecutable(file)) return { kind: 'found', file };
      refused ??= file;
    }
  }
  // Windows starts a file only if it has a suitable extension, and this file has none.
  if (windows && isPath && isFile(resolve(cwd, command), windows)) refused ??= resolve(cwd, command);
  return refused === undefined ? { kind: 'missing' } : { kind: 'not-executable', file: refused };
}

/** What Windows can start, of everything that PATHEXT may list. `.ps1` files need PowerShell, so they come last. */
const STARTABLE = ['.com', '.exe', '.bat', '.cmd', '.ps1'];

/** The extensions to try after a command; none is tried first if it already ends like a program. */
function endingsOf(command: string, pathExt: string | undefined): readonly string[] {
  const named = (pathExt ?? '').split(';').filter((ending) => STARTABLE.includes(ending.toLowerCase()));
  const endings = [...(named.length === 0 ? STARTABLE.slice(0, -1) : named), '.ps1'];
  return STARTABLE.includes(extname(command).toLowerCase()) ? ['', ...endings] : endings;
}

/** The same with only a PATH. If it names no directory, the usual ones of the system are searched. */
export function findExecutable(command: string, { path, ...lookup }: ExecutableSearch): string | undefined {
  const PATH = directoriesIn(path).length > 0 ? path : '/usr/bin:/bin';
  const found = findCommand(command, { ...lookup, env: { PATH } });
  return found.kind === 'found' ? found.file : undefined;
}

export interface ExecutableSearch extends Omit<CommandLookup, 'env'> {
  readonly path: string | undefined;
}

function isFile(path: string, windows: boolean): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    return windows && nodeErrorCode(error) !== 'ENOENT' && isAlias(path);
  }
}

/**
 * Whether it is a link that only Windows can follow. What Microsoft Store installs, often Python, is in the PATH as an
 * alias of this kind, which can be started but not opened.
 */
function isAlias(path: string): boolean {
  try {
    return !lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
