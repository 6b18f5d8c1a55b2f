import * as fs from 'node:fs';
import { mkdir, open as openHandle, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, SwitchboardError } from '../shared/errors.ts';

/**
 * A log on disk that costs a bounded amount of it: `<directory>/<program>.log`, and beyond a size `.log.1`, `.log.2`.
 *
 * Opening it throws where it cannot work. Once open it never ends the program: on a disk that is slow or full, lines
 * wait in bounded memory, then are dropped and counted, and writing is tried again. Several programs may share the
 * file: each appends whole lines, and notices when another has moved it on.
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
  /** Adds a line, with or without its newline; text of several lines becomes several. Never waits, never throws. */
  write(line: string): void;
  /** Writes what is left, as far as the disk allows within two seconds. */
  close(): Promise<void>;
}

/** Memory for lines the disk has not taken, in bytes. */
const WAITING_LIMIT = 1024 * 1024;
/** What is written at once, in bytes, and so the most of one line. */
const BATCH_LIMIT = 64 * 1024;
const MIN_BYTES = 4 * 1024;
const RETRY_MS = 1000;
const CLOSE_MS = 2000;
/** Rotating takes a few renames; a lock older than this was left behind by a program that ended in between. */
const STALE_LOCK_MS = 2000;
const LOCK_POLL_MS = 20;
/** More than enough to sit out a stale lock. */
const MAX_ROUNDS = 500;

/**
 * Append, so that programs do not write over each other. Links are not followed: anyone who may write to the directory could
 * point our output at any file. Not blocking, so that a pipe in the place of the file is an error and not a wait.
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

const [openFile, statFile, writeFile, closeFile] = [
  promisify(fs.open),
  promisify(fs.fstat),
  promisify(fs.write),
  promisify(fs.close),
];

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

class RotatingFile implements LogFile {
  readonly file: string;
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #keep: number;
  #onError: ((message: string) => void) | undefined;
  #fd: number;
  #identity: Identity;

  #waiting: string[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  /** What is being written; kept until the disk has all of it. */
  #batch: Buffer | undefined;
  #handedOver = false;
  #pump: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor({ directory, program, maxBytes = 10 * 1024 * 1024, keep = 2, onError }: LogFileOptions) {
    if (!/^[\w.-]+$/.test(program)) throw new Error('The name of a log file has letters, digits and "._-"');
    this.#directory = resolve(directory);
    this.file = join(this.#directory, `${program}.log`);
    this.#maxBytes = Math.max(maxBytes, MIN_BYTES);
    this.#keep = keep;
    this.#onError = onError;
    [this.#fd, this.#identity] = openFirst(this.#directory, this.file);
    process.on('exit', this.#atExit);
  }

  write(line: string): void {
    if (this.#closing !== undefined) return;
    const time = new Date().toISOString();
    for (const each of line.replace(/\r?\n$/, '').split('\n'))
      this.#add(cut(`${time} ${each}\n`, this.#batchLimit));
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    this.#wake?.();
    return this.#closing;
  }

  get #batchLimit(): number {
    return Math.min(BATCH_LIMIT, this.#maxBytes);
  }

  #add(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > WAITING_LIMIT) {
      this.#dropped++;
      return;
    }
    this.#sayDropped();
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    this.#pump ??= this.#writeAll();
  }

  /** Puts the number of lines dropped where they would have stood. */
  #sayDropped(): void {
    if (this.#dropped === 0) return;
    const count = this.#dropped === 1 ? '1 line was' : `${this.#dropped} lines were`;
    const line = `${new Date().toISOString()} ${count} dropped here: the disk was too slow\n`;
    this.#dropped = 0;
    this.#waiting.push(line);
    this.#waitingBytes += Buffer.byteLength(line);
  }

  async #writeAll(): Promise<void> {
    // All lines of this turn of the event loop leave in one write.
    await new Promise((resume) => setImmediate(resume));
    while ((this.#batch ??= this.#nextBatch()) !== undefined) {
      try {
        await this.#makeRoom(this.#batch.length);
        this.#batch = await this.#handOver(this.#batch);
      } catch (error) {
        this.#report(error);
        // While closing, this was the last try; whatever is left is lost.
        if (this.#closing !== undefined) break;
        await this.#pause(RETRY_MS);
      }
    }
    this.#pump = undefined;
  }

  /** Writes what the disk takes; returns the rest. */
  async #handOver(batch: Buffer): Promise<Buffer | undefined> {
    this.#handedOver = true;
    try {
      const { bytesWritten } = await writeFile(this.#fd, batch);
      return bytesWritten < batch.length ? batch.subarray(bytesWritten) : undefined;
    } finally {
      this.#handedOver = false;
    }
  }

  #nextBatch(): Buffer | undefined {
    if (this.#waiting.length === 0) this.#sayDropped();
    let count = 0;
    let bytes = 0;
    for (; count < this.#waiting.length; count++) {
      const more = bytes + Buffer.byteLength(this.#waiting[count]!);
      if (count > 0 && more > this.#batchLimit) break;
      bytes = more;
    }
    if (count === 0) return undefined;
    this.#waitingBytes -= bytes;
    return Buffer.from(this.#waiting.splice(0, count).join(''));
  }

  /** Sees to it that our file is the one that has the name, and that the bytes fit into it. */
  async #makeRoom(bytes: number): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const named = await statNamed(this.file);
      if (named === undefined || !same(named, this.#identity)) await this.#reopen();
      else if (named.size === 0n || Number(named.size) + bytes <= this.#maxBytes) return;
      else await this.#rotate();
    }
    throw new Error('other programs keep replacing it');
  }

  async #reopen(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: DIRECTORY_MODE });
    const fd = await openFile(this.file, FLAGS, FILE_MODE);
    let unused = fd;
    try {
      const stats = await statFile(fd, { bigint: true });
      if (!stats.isFile()) throw new Error('it is no longer a regular file');
      unused = this.#fd;
      this.#fd = fd;
      this.#identity = stats;
    } finally {
      await closeFile(unused);
    }
  }

  /** Moves the files on, or waits a moment where another program is at it. */
  async #rotate(): Promise<void> {
    const lock = `${this.file}.lock`;
    if (!(await this.#take(lock))) return;
    try {
      // Another program may have been faster: then the name is a fresh file's, and moving that on would waste a place.
      const named = await statNamed(this.file);
      if (named === undefined || !same(named, this.#identity)) return;
      if (this.#keep === 0) await rm(this.file, { force: true });
      for (let place = this.#keep; place > 0; place--) {
        const from = place === 1 ? this.file : `${this.file}.${place - 1}`;
        await rename(from, `${this.file}.${place}`).catch(unlessMissing);
      }
    } finally {
      await rm(lock, { force: true });
    }
  }

  async #take(lock: string): Promise<boolean> {
    try {
      await (await openHandle(lock, 'wx', FILE_MODE)).close();
      return true;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const held = await statNamed(lock);
    if (held !== undefined && Math.abs(Date.now() - Number(held.mtimeMs)) > STALE_LOCK_MS) {
      await rm(lock, { force: true });
    } else {
      await this.#pause(LOCK_POLL_MS);
    }
    return false;
  }

  #report(error: unknown): void {
    const report = this.#onError;
    this.#onError = undefined;
    report?.(`Cannot write to the log ${this.file}: ${messageOf(error)}. Lines may be missing from it.`);
  }

  /** Waits without keeping the program alive; closing cuts it short. */
  #pause(ms: number): Promise<void> {
    return new Promise((resume) => {
      const timer = setTimeout(resume, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resume();
      };
    });
  }

  async #finish(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resume) => (timer = setTimeout(resume, CLOSE_MS)));
    // The file is closed after the last write even if no caller waits for it: its descriptor must not be reused before.
    const done = (async () => {
      await this.#pump;
      process.off('exit', this.#atExit);
      await closeFile(this.#fd);
    })().catch((error: unknown) => this.#report(error));
    await Promise.race([done, late]);
    clearTimeout(timer);
  }

  /** A program that ends without closing: its last lines are the ones that say why. */
  readonly #atExit = (): void => {
    const rest = Buffer.from(this.#waiting.join(''));
    const bytes = this.#batch === undefined || this.#handedOver ? rest : Buffer.concat([this.#batch, rest]);
    try {
      if (fs.fstatSync(this.#fd).size + bytes.length <= this.#maxBytes) fs.writeSync(this.#fd, bytes);
    } catch {
      // Nothing is left to report it to.
    }
  };
}

/** Opens the file for the first time, or throws with the obstacle. */
function openFirst(directory: string, file: string): [fd: number, identity: Identity] {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    // Asked now, because rotating would find out only after days.
    fs.accessSync(directory, fs.constants.W_OK);
  } catch (cause) {
    throw directoryUnusable(directory, cause);
  }
  let fd: number;
  try {
    fd = fs.openSync(file, FLAGS, FILE_MODE);
  } catch (cause) {
    const code = codeOf(cause) ?? '';
    if (code === 'ELOOP' || code === 'EMLINK') throw fileUnusable(file, 'a symbolic link', cause);
    if (code === 'EISDIR' || code === 'ENXIO') throw fileUnusable(file, 'not a regular file', cause);
    throw directoryUnusable(directory, cause);
  }
  try {
    const stats = fs.fstatSync(fd, { bigint: true });
    if (!stats.isFile()) throw fileUnusable(file, 'not a regular file');
    if ((stats.mode & 0o077n) !== 0n) fs.fchmodSync(fd, FILE_MODE);
    return [fd, stats];
  } catch (error) {
    fs.closeSync(fd);
    throw error instanceof SwitchboardError ? error : directoryUnusable(directory, error);
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
    {
      hint: 'Remove it, or choose another directory for the log.',
      cause,
    },
  );
}

/** A line that fits into a batch, newline included. */
function cut(line: string, limit: number): string {
  if (Buffer.byteLength(line) <= limit) return line;
  // A UTF-16 unit takes three bytes at most.
  return `${line.slice(0, Math.floor(limit / 3) - 2)}…\n`;
}

async function statNamed(path: string): Promise<fs.BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    unlessMissing(error);
    return undefined;
  }
}

function same(a: Identity, b: Identity): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

function unlessMissing(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
