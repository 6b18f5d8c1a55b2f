import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';

/**
 * A log on disk that costs a bounded amount of it: `<directory>/<program>.log`, and beyond a size `.log.1`, `.log.2`.
 *
 * Opening it throws where it cannot work. Once open it never ends the program: on a disk that is full, lines wait in
 * bounded memory, then are dropped and counted, and writing is tried again. Several programs may share the file: each
 * appends whole lines.
 */
export function openLogFile(options: LogFileOptions): LogFile {
  return new RotatingFile(options);
}

export interface LogFileOptions {
  /** Where the log is kept. Made for this user only, if missing. */
  readonly directory: string;
  /** The first part of the file's name. */
  readonly program: string;
  /** The size, in bytes, beyond which the file is rotated. Default 10 MiB; at least 4 KiB. */
  readonly maxBytes?: number | undefined;
  /** How many rotated files stay. Default 2. */
  readonly keep?: number | undefined;
  /** Called with the first failure after opening, and with no other. Default: not reported. */
  readonly onError?: ((message: string) => void) | undefined;
}

export interface LogFile {
  readonly file: string;
  /** Adds a line, with or without its newline; text of several lines becomes several. Never throws. */
  write(line: string): void;
  /** Writes what is left, as far as the disk allows. */
  close(): void;
}

/** Memory for lines the disk has not taken, in bytes. */
const WAITING_LIMIT = 1024 * 1024;
/** What is written at once, in bytes, and so the most of one line. */
const BATCH_LIMIT = 64 * 1024;
const MIN_BYTES = 4 * 1024;
const RETRY_MS = 1000;

/**
 * Append, so that programs do not write over each other. Links are not followed: anyone who may write to the directory
 * could point our output at any file. Not blocking, so that a pipe in the place of the file is an error and not a wait.
 * (Windows lacks the last two; a missing flag counts as 0.)
 */
const FLAGS =
  fs.constants.O_WRONLY |
  fs.constants.O_APPEND |
  fs.constants.O_CREAT |
  fs.constants.O_NOFOLLOW |
  fs.constants.O_NONBLOCK;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

class RotatingFile implements LogFile {
  readonly file: string;
  readonly #maxBytes: number;
  readonly #keep: number;
  #onError: ((message: string) => void) | undefined;
  /** Lines that the disk has not taken, and their size. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #scheduled = false;
  /** Set while the disk takes nothing. */
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ directory, program, maxBytes = 10 * 1024 * 1024, keep = 2, onError }: LogFileOptions) {
    if (!/^[\w.-]+$/.test(program)) throw new Error('The name of a log file has letters, digits and "._-"');
    this.file = join(resolve(directory), `${program}.log`);
    this.#maxBytes = Math.max(maxBytes, MIN_BYTES);
    this.#keep = keep;
    this.#onError = onError;
    checkUsable(this.file);
    // A program may end without closing, and its last lines are the ones that say why.
    process.on('exit', this.#flush);
  }

  write(line: string): void {
    if (this.#closed) return;
    for (const each of line.replace(/\r?\n$/, '').split('\n')) {
      if (this.#waitingBytes > WAITING_LIMIT) {
        this.#dropped++;
        continue;
      }
      this.#reportDropped();
      this.#add(each);
    }
    if (this.#scheduled || this.#retry !== undefined) return;
    // All lines of this turn of the event loop leave in one write.
    this.#scheduled = true;
    setImmediate(this.#flush);
  }

  close(): void {
    if (this.#closed) return;
    this.#flush();
    clearTimeout(this.#retry);
    this.#closed = true;
    process.off('exit', this.#flush);
  }

  get #batchLimit(): number {
    return Math.min(BATCH_LIMIT, this.#maxBytes);
  }

  #add(text: string): void {
    const line = asLine(text, this.#batchLimit);
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
  }

  /** Puts the number of lines dropped where they would have stood. */
  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const count = this.#dropped === 1 ? '1 line was' : `${this.#dropped} lines were`;
    this.#dropped = 0;
    this.#add(`${count} dropped here: too many were waiting`);
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    if (this.#closed) return;
    try {
      while (this.#waiting.length > 0) {
        const lines = this.#nextLines();
        const batch = Buffer.concat(this.#waiting.slice(0, lines));
        const written = this.#append(batch);
        this.#waiting.splice(0, lines, ...(written < batch.length ? [batch.subarray(written)] : []));
        this.#waitingBytes -= written;
        if (this.#waiting.length === 0) this.#reportDropped();
      }
    } catch (error) {
      this.#report(error);
      this.#retry = setTimeout(this.#flush, RETRY_MS).unref();
    }
  };

  /** How many of the waiting lines are written at once. */
  #nextLines(): number {
    let bytes = 0;
    const tooMany = this.#waiting.findIndex(({ length }) => (bytes += length) > this.#batchLimit);
    return tooMany === -1 ? this.#waiting.length : Math.max(1, tooMany);
  }

  /** Opens the file each time, so that one that was moved away or deleted is made again. Returns what was written. */
  #append(batch: Buffer): number {
    fs.mkdirSync(dirname(this.file), { recursive: true, mode: DIRECTORY_MODE });
    this.#rotate(batch.length);
    const descriptor = fs.openSync(this.file, FLAGS, FILE_MODE);
    try {
      if (!fs.fstatSync(descriptor).isFile()) throw new Error('it is no longer a regular file');
      return fs.writeSync(descriptor, batch);
    } finally {
      fs.closeSync(descriptor);
    }
  }

  /** Moves the files on if these bytes do not fit. If two programs do so at the same moment, an old file goes early. */
  #rotate(bytes: number): void {
    const size = fs.statSync(this.file, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0 || size + bytes <= this.#maxBytes) return;
    if (this.#keep === 0) fs.rmSync(this.file, { force: true });
    for (let place = this.#keep; place > 0; place--) {
      const from = place === 1 ? this.file : `${this.file}.${place - 1}`;
      move(from, `${this.file}.${place}`);
    }
  }

  #report(error: unknown): void {
    const report = this.#onError;
    this.#onError = undefined;
    report?.(`Cannot write to the log ${this.file}: ${messageOf(error)}. Lines may be missing from it.`);
  }
}

function move(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (nodeErrorCode(error) !== 'ENOENT') throw error;
  }
}

/** Opens the file for the first time, and throws with the obstacle. */
function checkUsable(file: string): void {
  const directory = dirname(file);
  try {
    fs.mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    // Asked now, because rotating would find out only after days.
    fs.accessSync(directory, fs.constants.W_OK);
  } catch (cause) {
    throw directoryUnusable(directory, cause);
  }
  let descriptor: number | undefined;
  try {
    descriptor = fs.openSync(file, FLAGS, FILE_MODE);
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) throw fileUnusable(file, 'not a regular file');
    if ((stats.mode & 0o077) !== 0) fs.fchmodSync(descriptor, FILE_MODE);
  } catch (cause) {
    if (cause instanceof SwitchboardError) throw cause;
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (code === 'ELOOP' || code === 'EMLINK') throw fileUnusable(file, 'a symbolic link', cause);
    if (code === 'EISDIR' || code === 'ENXIO') throw fileUnusable(file, 'not a regular file', cause);
    throw directoryUnusable(directory, cause);
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

function directoryUnusable(directory: string, cause: unknown): SwitchboardError {
  return new SwitchboardError(
    'LOG_DIRECTORY_UNUSABLE',
    `Cannot write a log in ${directory}: ${messageOf(cause)}.`,
    { hint: 'Make it a directory that you can write to, or choose another one.', cause },
  );
}

function fileUnusable(file: string, what: string, cause?: unknown): SwitchboardError {
  return new SwitchboardError(
    'LOG_FILE_UNUSABLE',
    `The log file ${file} is ${what}, so nothing is written to it.`,
    { hint: 'Remove it, or choose another directory for the log.', cause },
  );
}

/** A text with its time, cut to fit into a batch. */
function asLine(text: string, limit: number): Buffer {
  const line = Buffer.from(`${new Date().toISOString()} ${text}\n`);
  // A UTF-16 unit takes three bytes at most.
  return line.length <= limit
    ? line
    : Buffer.from(`${line.toString().slice(0, Math.floor(limit / 3) - 2)}…\n`);
}
