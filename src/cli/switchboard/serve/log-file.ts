import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';

/**
 * A log on disk, `<directory>/<program>.log`; beyond a size it becomes `.log.1`, and a new one begins.
 *
 * Opening it throws where it cannot work. Once open it never ends the program: lines that cannot be written are lost.
 * Several programs may share the file: each appends whole lines.
 */
export function openLogFile({
  directory,
  program,
  times = true,
  onError,
  maxBytes = MAX_BYTES,
}: LogFileOptions): LogFile {
  const file = join(resolve(directory), `${program}.log`);
  checkUsable(file, resolve(directory), maxBytes);
  let waiting = '';
  let failed = false;
  let closed = false;
  const flush = (): void => {
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    try {
      append(file, text, maxBytes);
    } catch (error) {
      if (!failed)
        onError(`Cannot write to the log ${file}: ${messageOf(error)}. Lines may be missing from it.`);
      failed = true;
    }
  };
  // A program may end without closing the log, and its last lines are the ones that say why.
  process.on('exit', flush);
  return {
    file,
    write(line) {
      if (closed) return;
      // All lines of this turn of the event loop go out in one write.
      if (waiting === '') setImmediate(flush);
      const time = times ? `${new Date().toISOString()} ` : '';
      for (const each of line.replace(/\r?\n$/, '').split('\n')) waiting += `${time}${each}\n`;
    },
    close() {
      closed = true;
      flush();
      process.off('exit', flush);
    },
  };
}

export interface LogFileOptions {
  /** Where the log is written. Created for this user only, if missing. */
  readonly directory: string;
  /** The first part of the file's name. */
  readonly program: string;
  /** Whether each line starts with its time. Default true. */
  readonly times?: boolean;
  /** Called with the first failure after opening, but no later one. */
  readonly onError: (message: string) => void;
  /** The size, in bytes, beyond which a new file begins. Default 10 MiB. */
  readonly maxBytes?: number;
}

export interface LogFile {
  readonly file: string;
  /** Adds a line, with or without its newline; a text with several lines adds several. Never throws. */
  write(line: string): void;
  /** Writes the remaining lines. */
  close(): void;
}

const MAX_BYTES = 10 * 1024 * 1024;
const FILE_MODE = 0o600;

function checkUsable(file: string, directory: string, maxBytes: number): void {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Checked now, because rotating would fail only after days.
    fs.accessSync(directory, fs.constants.W_OK);
    const descriptor = openFile(file, maxBytes);
    fs.fchmodSync(descriptor, FILE_MODE);
    fs.closeSync(descriptor);
  } catch (cause) {
    if (cause instanceof SwitchboardError) throw cause;
    const message = `Cannot write a log in ${directory}: ${messageOf(cause)}.`;
    const hint = 'Make it a directory that you can write to, or choose another one.';
    throw new SwitchboardError('LOG_DIRECTORY_UNUSABLE', message, { hint, cause });
  }
}

/** Opens the file each time, so that a file that was moved or deleted is created again. */
function append(file: string, text: string, maxBytes: number): void {
  const descriptor = openFile(file, maxBytes);
  try {
    fs.writeFileSync(descriptor, text);
  } finally {
    fs.closeSync(descriptor);
  }
}

function openFile(file: string, maxBytes: number): number {
  const found = fs.lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === false) {
    const what = found.isSymbolicLink() ? 'a symbolic link' : 'not a regular file';
    const message = `The log file ${file} is ${what}, so nothing is written to it.`;
    const hint = 'Remove it, or choose another directory for the log.';
    throw new SwitchboardError('LOG_FILE_UNUSABLE', message, { hint });
  }
  if (found !== undefined && found.size > maxBytes) rotate(file);
  return fs.openSync(file, FLAGS, FILE_MODE);
}

/** If two programs rotate at the same moment, the old file is dropped early. */
function rotate(file: string): void {
  try {
    fs.renameSync(file, `${file}.1`);
  } catch (error) {
    if (nodeErrorCode(error) !== 'ENOENT') throw error;
  }
}

/**
 * O_APPEND keeps programs from overwriting each other's lines. Links are not followed: anyone who may write to the
 * directory could point our output at any file. Opened without blocking, so that a pipe in place of the file is an
 * error instead of a wait. (Windows lacks the last two; a missing flag counts as 0.)
 */
const FLAGS =
  fs.constants.O_WRONLY |
  fs.constants.O_APPEND |
  fs.constants.O_CREAT |
  fs.constants.O_NOFOLLOW |
  fs.constants.O_NONBLOCK;
