import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, join, resolve } from 'node:path';

/** Resolves a command as the system does when it starts a program. */
export type FoundCommand =
  | { readonly kind: 'found'; readonly file: string }
  | { readonly kind: 'not-executable'; readonly file: string }
  | { readonly kind: 'missing' };

export interface CommandLookup {
  readonly cwd: string;
  /** The environment the program would get: its PATH counts, not ours. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

export function findCommand(
  command: string,
  { cwd, env, platform = process.platform }: CommandLookup,
): FoundCommand {
  const windows = platform === 'win32';
  const variable = (name: string): string =>
    Object.entries(env).find(([key]) => (windows ? key.toUpperCase() : key) === name)?.[1] ?? '';
  const isPath = command.includes('/') || (windows && command.includes('\\'));
  const places = isPath ? [''] : variable('PATH').split(delimiter);
  const endings =
    windows && extname(command) === '' ? (variable('PATHEXT') || '.COM;.EXE;.BAT;.CMD').split(';') : [''];
  let refused: string | undefined;
  for (const place of places) {
    for (const ending of endings) {
      const file = resolve(cwd, join(place, command + ending));
      if (!isFile(file)) continue;
      if (isExecutable(file)) return { kind: 'found', file };
      refused ??= file;
    }
  }
  return refused === undefined ? { kind: 'missing' } : { kind: 'not-executable', file: refused };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
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

interface LaunchContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether a page can be shown to the person who typed the command. */
export function canShowPages(
  { cwd, env }: LaunchContext,
  platform: NodeJS.Platform = process.platform,
): boolean {
  // The person sits at another machine, and so does their browser.
  if (env.SSH_CONNECTION) return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY && !env.WSL_DISTRO_NAME && !env.BROWSER) return false;
  return findCommand('xdg-open', { cwd, env, platform }).kind === 'found';
}
