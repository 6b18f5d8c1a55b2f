import { existsSync, readFileSync, statSync } from 'node:fs';

export interface NotedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How a program ended, read from the file written at that moment. */
export interface RecordedExit {
  /** 128 + N for a program killed by signal N. */
  readonly code: number;
  /** The time of the exit, in seconds since the epoch. */
  readonly at: number;
}

/** Undefined while the process runs, or if the shell that writes the file was killed too. */
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
 * Runs the program in the foreground and writes its exit code to the file passed as the shell's name. The traps only
 * keep the shell alive: unlike with `trap ''`, the program does not ignore a trapped signal, and unlike with `&`, it
 * does not ignore SIGINT. A signal to the session reaches both, and the shell first waits for the program. It sets no
 * variable before that, because the program would inherit it. Its stderr is discarded: that is where shells report
 * which signal ended a program ("Terminated"), and the log is only for the output of the program.
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

/** False if there is no shell. */
export function canRecordExit(): boolean {
  return process.platform !== 'win32' && existsSync(SHELL);
}

/**
 * Wraps the command in a small shell that records its exit. The file must be an absolute path; arguments are passed
 * unchanged.
 */
export function recordingExit({ file, args, env }: NotedCommand, exitFile: string): NotedCommand {
  const odd = Object.keys(env).filter((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  // `env` would treat such a file name as a variable.
  const carried = file.includes('=') ? [] : odd;
  return {
    file: SHELL,
    args: ['-c', `${unpacking(carried)}${SCRIPT}`, exitFile, file, ...args],
    env: packed(env, carried),
  };
}

const CARRIER = 'SWITCHYARD_CARRIED_';

/**
 * Some shells drop variables whose names they do not allow (`npm_config_@scope:registry`). These are passed as values
 * of other variables, not as arguments, which all users of the machine can read.
 */
function packed(env: NotedCommand['env'], names: readonly string[]): NotedCommand['env'] {
  if (names.length === 0) return env;
  const packages = names.map((name, at) => [`${CARRIER}${at}`, `${name}=${env[name]}`] as const);
  const plain = Object.entries(env).filter(([name]) => !names.includes(name));
  return Object.fromEntries([...plain, ...packages]);
}

/** The shell code with which `env` sets them again, right before the program starts. */
function unpacking(names: readonly string[]): string {
  if (names.length === 0) return '';
  const carriers = names.map((_, at) => `${CARRIER}${at}`);
  const values = carriers.map((carrier) => `"$${carrier}"`);
  return `set -- /usr/bin/env -- ${values.join(' ')} "$@"\nunset ${carriers.join(' ')}\n`;
}
