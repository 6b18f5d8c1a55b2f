import { existsSync, readFileSync, statSync } from 'node:fs';

export interface NotedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How a program ended, as a file tells that was written when it did. */
export interface RecordedExit {
  /** For a program that was ended by signal N, 128 + N. */
  readonly code: number;
  /** In seconds since the epoch. */
  readonly at: number;
}

/** Undefined while the process runs, and when the process that should have written the file was killed too. */
export function readExit(exitFile: string): RecordedExit | undefined {
  try {
    const text = readFileSync(exitFile, 'latin1');
    if (!/^\d{1,3}\n$/.test(text)) return undefined;
    return { code: Number(text), at: Math.floor(statSync(exitFile).mtimeMs / 1000) };
  } catch {
    return undefined;
  }
}

/**
 * Runs the program in the foreground and notes its code in the file that is the shell's name. The traps do nothing but
 * keep the shell: a trapped signal is not ignored in the program, as `trap ''` would have it, nor is SIGINT, as `&`
 * would have it. A signal to the session reaches both, and the shell first waits for the end of the program. It sets no
 * variable before that: the program would see it. Its own stderr leads nowhere, because shells report the signal that
 * ended a program there ("Terminated"), and the log is for what the program writes.
 */
const SCRIPT = `# runs a program and notes how it ended
trap : HUP INT QUIT TERM USR1 USR2
exec 3>&2 2>/dev/null
(exec "$@") 2>&3 3>&-
code=$?
umask 077
echo $code >"$0"
exit $code
`;
const SHELL = '/bin/sh';

/** Not on Windows. */
export function canRecordExit(): boolean {
  return existsSync(SHELL);
}

/** The same command under a small shell that notes its end. Its file has to be a full path; its arguments stay arguments. */
export function recordingExit({ file, args, env }: NotedCommand, exitFile: string): NotedCommand {
  const odd = Object.keys(env).filter((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  // `env` would take such a file for a variable.
  const carried = file.includes('=') ? [] : odd;
  return {
    file: SHELL,
    args: ['-c', `${unpacking(carried)}${SCRIPT}`, exitFile, file, ...args],
    env: packed(env, carried),
  };
}

const CARRIER = 'SWITCHYARD_CARRIED_';

/**
 * Some shells drop variables that they could not name themselves (`npm_config_@scope:registry`). These travel as the
 * values of others. Not as arguments: everybody on the machine can read those.
 */
function packed(env: NotedCommand['env'], names: readonly string[]): NotedCommand['env'] {
  if (names.length === 0) return env;
  const packages = names.map((name, at) => [`${CARRIER}${at}`, `${name}=${env[name]}`] as const);
  const plain = Object.entries(env).filter(([name]) => !names.includes(name));
  return Object.fromEntries([...plain, ...packages]);
}

/** Lets `env` set them again, right before the program. */
function unpacking(names: readonly string[]): string {
  if (names.length === 0) return '';
  const carriers = names.map((_, at) => `${CARRIER}${at}`);
  const values = carriers.map((carrier) => `"$${carrier}"`);
  return `set -- /usr/bin/env -- ${values.join(' ')} "$@"\nunset ${carriers.join(' ')}\n`;
}
