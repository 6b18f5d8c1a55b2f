import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTreeFinder } from './find-trees.ts';
import { run } from './run.ts';
import { pathBehind } from './search-path.ts';
import { DAEMON_COOKIE } from './service-cookies.ts';

export interface LogLimit {
  /** Where a log that has become too long is moved; replaces the previous one. */
  readonly earlierLog: string;
  /** The limit for both files together, in bytes. */
  readonly bytes: number;
}

export interface LogWriterOptions {
  /** The log file, which must exist. */
  readonly logFile: string;
  readonly limit: LogLimit;
  /** Switchyard's home and the program's cookie there: its records prove that the writer is meant to outlive us. */
  readonly home?: string | undefined;
  readonly cookie?: string | undefined;
}

export interface LogWriter {
  /** The descriptor for the outputs of a program; must be closed once the program has started. */
  readonly input: number;
  /** Resolves when the program and all processes that share its outputs have ended and everything is in the log. */
  readonly ended: Promise<unknown>;
}

/** How much `dd` reads and writes at once, in bytes. */
const BLOCK = 65536;
/** A log with less room than this is moved, in blocks: `dd` ends after that many reads, however short they are. */
const LEAST_ROOM = 16;

/**
 * Copies its input to the log, and starts a new log when the current one is full. No output is lost, and a program that
 * writes faster than the disk has to wait. Killing one of its processes does not stop it: the outer loop restarts the
 * inner one, and the inner one does not need the outer one.
 *
 * It gets the paths as variables, so that killing processes by their command line does not hit it.
 */
const script = (blocks: number): string => `# keeps a log short
umask 077
trap '' HUP INT QUIT TERM
write() {
  exec 3>>"$LOG_FILE"
  # Some systems do not name descriptors. There the log has no limit.
  [ "$LOG_FILE" -ef /dev/fd/3 ] || exec cat >&3
  while [ "$LOG_FILE" -ef /dev/fd/3 ]; do
    room=${blocks}
    [ ! -s "$LOG_FILE" ] || room=$((room - ($(wc -c <"$LOG_FILE") + ${BLOCK - 1}) / ${BLOCK}))
    if [ "$room" -lt ${LEAST_ROOM} ]; then
      mv -f "$LOG_FILE" "$EARLIER_LOG" || exit
      exec 3>>"$LOG_FILE"
      room=${blocks}
    fi
    report=$(dd bs=${BLOCK} count="$room" 2>&1 >&3) || exit
    case $report in 0+0*) exit ;; esac
  done
  # The log was deleted, or a later run has begun. The program must not wait for a reader.
  exec cat >/dev/null
}
until (write); do
  # Unless a signal ended it, the log cannot be written: drop output instead of blocking the program.
  [ $? -gt 128 ] || case $(dd bs=${BLOCK} count=1 2>&1 >/dev/null) in 0+0*) exit ;; esac
done
`;
const SHELL = '/bin/sh';
/** The variable that identifies the processes writing a log. */
const LOG = 'LOG_FILE';

/**
 * Starts a process that writes a log of limited length while a program runs. It has its own session and none of the
 * program's cookies, so it does not count as part of the program, and it does not end with us. Returns undefined if
 * there are no named pipes.
 */
export async function startLogWriter(options: LogWriterOptions): Promise<LogWriter | undefined> {
  const pipe = existsSync(SHELL) ? await makePipe(`${options.logFile}.pipe`) : undefined;
  if (pipe === undefined) return undefined;
  const writer = await spawnWriter(pipe.output, options);
  if (writer !== undefined) return { input: pipe.input, ended: writer.ended };
  closeSync(pipe.input);
  return undefined;
}

/**
 * Restarts the writer of a running program in case all its processes were killed; the program has been waiting for a
 * reader since then. `pid` is the process that was started. Returns false if it does not write to a pipe. Linux only.
 */
export async function reviveLogWriter(pid: number, options: LogWriterOptions): Promise<boolean> {
  const output = `/proc/${pid}/fd/1`;
  try {
    if (!statSync(output).isFIFO()) return false;
    // If the program ends meanwhile, opening must not wait for another writer.
    const descriptor = openSync(output, constants.O_RDONLY | constants.O_NONBLOCK);
    return (await spawnWriter(descriptor, options)) !== undefined;
  } catch {
    return false;
  }
}

/** The logs that currently have a writer. */
export function writtenLogs(): ReadonlySet<string> {
  return new Set(createTreeFinder(LOG).look().carriers().keys());
}

/** Takes over the descriptor. Resolves once the writer runs; undefined if it cannot be started. */
async function spawnWriter(
  input: number,
  { logFile, limit, home = '', cookie = '' }: LogWriterOptions,
): Promise<{ readonly ended: LogWriter['ended'] } | undefined> {
  try {
    const writer = spawn(SHELL, ['-c', script(Math.floor(limit.bytes / 2 / BLOCK))], {
      cwd: '/',
      env: {
        PATH: pathBehind('/usr/bin', '/bin'),
        LC_ALL: 'C',
        [LOG]: logFile,
        EARLIER_LOG: limit.earlierLog,
        SWITCHYARD_HOME: home,
        [DAEMON_COOKIE]: cookie,
      },
      detached: true,
      stdio: [input, 'ignore', 'ignore'],
    });
    const ended = new Promise((resolve) => writer.once('exit', resolve));
    await once(writer, 'spawn');
    writer.unref();
    return { ended };
  } catch {
    return undefined;
  } finally {
    closeSync(input);
  }
}

interface Pipe {
  readonly input: number;
  readonly output: number;
}

/**
 * Node's own pipes are sockets, which a program cannot open as `/dev/stdout`. This is a named pipe instead, whose name
 * is removed before anyone uses it.
 */
async function makePipe(file: string): Promise<Pipe | undefined> {
  try {
    // A killed command may have left one.
    rmSync(file, { force: true });
    await makeNamedPipe(file);
    // Also for reading: opening one end alone would wait for the other, and a program without a reader would be killed.
    const input = openSync(file, constants.O_RDWR);
    return { input, output: openSync(file, constants.O_RDONLY) };
  } catch {
    return undefined;
  } finally {
    rmSync(file, { force: true });
  }
}

let unmade: { readonly files: string[]; readonly made: Promise<unknown> } | undefined;

/** Pipes for services that start together are made by a single command: starting it takes longer than making them. */
function makeNamedPipe(file: string): Promise<unknown> {
  if (unmade === undefined) {
    const files: string[] = [];
    const made = nextTurn().then(() => {
      unmade = undefined;
      return run('mkfifo', ['-m', '600', ...files], {
        cwd: '/',
        env: { PATH: pathBehind('/usr/bin', '/bin') },
      });
    });
    unmade = { files, made };
  }
  unmade.files.push(file);
  return unmade.made;
}
