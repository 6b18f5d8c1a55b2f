import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { createProcessList, type ProcessList } from './process-list.ts';
import { dropInheritance } from './drop-inheritance.ts';
import { canRecordExit, recordingExit, type NotedCommand } from './exit-file.ts';
import { findExecutable } from './find-command.ts';
import { startLogWriter, type LogLimit, type LogWriter } from './log-writer.ts';
import { withSafePath } from './search-path.ts';
import { SERVICE_COOKIE } from './service-cookies.ts';
import { spawnable, type SpawnOptions } from './spawnable.ts';
import { explainSpawnError } from './spawn-error.ts';
import { loadWindows } from './windows.ts';

export interface DetachedOptions extends Omit<SpawnOptions, 'shown'> {
  /** The file that both outputs are appended to. Created if missing, accessible only to this user. */
  readonly logFile: string;
  /** Default: no limit. */
  readonly logLimit?: LogLimit | undefined;
  /** The file that records how the program ended, even if we exit first. Default: none. */
  readonly exitFile?: string | undefined;
}

/** A process that outlives us, with what we know about it while we run. */
export interface Detached {
  readonly pid: number;
  /** As reported by the kernel, see `ProcessIdentity`. */
  readonly startTime: number;
  /**
   * Resolves once the last output is in the log. Does not keep us running. With an exit file, the code of a program
   * killed by signal N is 128 + N.
   */
  readonly exited: Promise<DetachedEnd>;
}

export interface DetachedEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts a program (without a shell) in a new session; it keeps running when we exit. */
export async function startDetached(options: DetachedOptions): Promise<Detached> {
  dropInheritance();
  await loadWindows();
  const { name, command, cwd, env } = options;
  const noted = commandOf(options);
  const {
    file,
    args,
    env: more,
    windowsVerbatimArguments,
  } = spawnable({
    ...{ name, cwd, env },
    command: noted.file,
    args: noted.args,
  });
  const log = openLog(options);
  const writer = await writerOf(options);
  const output = writer?.input ?? log;
  let child: ChildProcess;
  let startTime = 0;
  try {
    child = spawn(file, args, {
      cwd,
      env: { ...noted.env, ...more },
      detached: true,
      stdio: ['ignore', output, output],
      windowsHide: true,
      windowsVerbatimArguments,
    });
    // Read in the same turn: even if the process has already exited, it has not been reaped yet.
    if (child.pid !== undefined) startTime = startTimeOf(child.pid);
  } catch (cause) {
    throw explainSpawnError({ name, command, cwd, env }, cause);
  } finally {
    closeSync(log);
    if (writer !== undefined) closeSync(writer.input);
  }
  const exited = new Promise<DetachedEnd>((resolve) => {
    child.once('exit', (code, signal) => void lastOutput(writer).then(() => resolve({ code, signal })));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(explainSpawnError({ name, command, cwd, env }, cause)));
  });
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new Error('A process that was spawned has an id.');
  return { pid, startTime, exited };
}

async function writerOf({ logFile, logLimit: limit, env }: DetachedOptions): Promise<LogWriter | undefined> {
  if (limit === undefined) return undefined;
  return startLogWriter({
    logFile,
    limit,
    home: env['SWITCHYARD_HOME'],
    cookie: env[SERVICE_COOKIE],
  });
}

/**
 * How long the last output may take to reach the log, in milliseconds: a process left behind may keep the output open
 * forever.
 */
const LAST_OUTPUT = 1000;

async function lastOutput(writer: LogWriter | undefined): Promise<void> {
  if (writer !== undefined) await withTimeout(writer.ended, LAST_OUTPUT, () => undefined, { ref: false });
}

/** The command to run: the program itself, or a shell that records its exit. */
function commandOf({ command, args, cwd, env: given, exitFile }: DetachedOptions): NotedCommand {
  const env = withSafePath(given);
  const program = findExecutable(command, { cwd, path: env['PATH'] });
  // A program that cannot run is started without the shell, so that the system reports the reason.
  if (program === undefined || !isRunnable(program)) return { file: command, args, env };
  const found = { file: program, args, env };
  return exitFile === undefined || !canRecordExit() ? found : recordingExit(found, exitFile);
}

let processes: ProcessList | undefined;

function startTimeOf(pid: number): number {
  processes ??= createProcessList('');
  return processes.identify(pid)?.startTime ?? 0;
}

function openLog({ name, logFile, exitFile }: DetachedOptions): number {
  try {
    // Both files are usually in the same directory.
    for (const directory of new Set([logFile, exitFile ?? logFile].map((file) => dirname(file)))) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    }
    // The recorded exit of an earlier run must not be mistaken for this one's.
    if (exitFile !== undefined) forget(exitFile);
    // Opened for appending, so that others can truncate it and several writers do not overwrite each other.
    return openSync(logFile, 'a', 0o600);
  } catch (cause) {
    const code = nodeErrorCode(cause) ?? 'unknown error';
    throw new SwitchboardError(
      'LOG_NOT_WRITABLE',
      `"${name}" was not started: its log ${logFile} cannot be written (${code}).`,
      { hint: 'Check free disk space and the permissions of that directory.', cause },
    );
  }
}

function forget(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (nodeErrorCode(error) !== 'ENOENT') throw error;
  }
}

/**
 * Whether the interpreter in the program's first line, if any, exists. The shell would report a missing one only in the
 * log.
 */
function isRunnable(program: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(program, 'r');
    const start = Buffer.alloc(256);
    const text = start.toString('latin1', 0, readSync(file, start, 0, start.length, 0));
    const interpreter = /^#![ \t]*(\/[^\s]+)/.exec(text)?.[1];
    return interpreter === undefined || existsSync(interpreter);
  } catch {
    // A file may be executable but not readable.
    return true;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
