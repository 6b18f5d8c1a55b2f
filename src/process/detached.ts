import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { createCimProcessList } from './process-list-cim.ts';
import { createProcessList, type ProcessList } from './process-list.ts';
import { canRecordExit, recordingExit, type NotedCommand } from './exit-file.ts';
import { findExecutable } from './find-executable.ts';
import { explainSpawnError } from './spawn-error.ts';

export interface DetachedOptions {
  /** What errors call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Both outputs are appended to it. Made if missing, for us alone. */
  readonly logFile: string;
  /** Where it is noted how the program ended, whether we live then or not. Default: nowhere. */
  readonly exitFile?: string | undefined;
}

/** A process that outlives us, as far as we can know it while we live. */
export interface Detached {
  readonly pid: number;
  /** The kernel's, see `Identity`. */
  readonly startTime: number;
  /** Does not keep us alive. With an exit file, a program that was ended by signal N has the code 128 + N. */
  readonly exited: Promise<DetachedEnd>;
}

export interface DetachedEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts a program from its arguments, in a session of its own, that goes on whatever becomes of us. */
export async function startDetached(options: DetachedOptions): Promise<Detached> {
  const { name, command, cwd, env } = options;
  const { file, args, env: composed } = commandOf(options);
  const log = openLog(options);
  let child: ChildProcess;
  let startTime = 0;
  try {
    child = spawn(file, args, {
      cwd,
      env: composed,
      detached: true,
      stdio: ['ignore', log, log],
      windowsHide: true,
    });
    // In the same turn: even if it has ended by now, nobody has collected it yet.
    if (child.pid !== undefined) startTime = startTimeOf(child.pid);
  } catch (cause) {
    throw explainSpawnError({ name, command, cwd, env }, cause);
  } finally {
    closeSync(log);
  }
  const exited = new Promise<DetachedEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(explainSpawnError({ name, command, cwd, env }, cause)));
  });
  child.unref();
  return { pid: child.pid!, startTime, exited };
}

/** What is really run: the program itself, or the shell that notes its end. */
function commandOf({ command, args, cwd, env, exitFile }: DetachedOptions): NotedCommand {
  const program = findExecutable(command, { cwd, path: env['PATH'] });
  // A program that cannot be run is started without the shell, so that the system itself says why not.
  if (program === undefined || !isRunnable(program)) return { file: command, args, env };
  const found = { file: program, args, env };
  return exitFile === undefined || !canRecordExit() ? found : recordingExit(found, exitFile);
}

let processes: ProcessList | undefined;

function startTimeOf(pid: number): number {
  processes ??= process.platform === 'win32' ? createCimProcessList() : createProcessList('');
  return processes.identify(pid)?.startTime ?? 0;
}

function openLog({ name, logFile, exitFile }: DetachedOptions): number {
  try {
    // Mostly they stand in one directory.
    for (const directory of new Set([logFile, exitFile ?? logFile].map((file) => dirname(file)))) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    }
    // The end of an earlier run is not the end of this one.
    if (exitFile !== undefined) forget(exitFile);
    // For append: what others cut off the file stays cut off, and several writers do not overwrite each other.
    return openSync(logFile, 'a', 0o600);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
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
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Whether its first line, if it names an interpreter, names one that exists. The shell would tell only the log. */
function isRunnable(program: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(program, 'r');
    const start = Buffer.alloc(256);
    const text = start.toString('latin1', 0, readSync(file, start, 0, start.length, 0));
    const interpreter = /^#![ \t]*(\/[^\s]+)/.exec(text)?.[1];
    return interpreter === undefined || existsSync(interpreter);
  } catch {
    // Executable but not readable is possible.
    return true;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
