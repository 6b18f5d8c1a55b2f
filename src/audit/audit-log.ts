import { constants, existsSync, lstatSync, renameSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import { withFileLock } from '../shared/file-lock.ts';
import type { Logger } from '../shared/log.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import type { AuditRecord } from './audit-record.ts';

export interface AuditLogOptions {
  readonly file: string;
  /** The size, in bytes, beyond which a new file begins. */
  readonly maxBytes: number;
  /** How many files are kept, the current one included; at least 2. */
  readonly files: number;
  readonly log: Logger;
}

/** The current file of the audit log. Older files have a number appended; the oldest has the highest. */
export function auditFile(stateDirectory: string): string {
  return join(stateDirectory, 'audit', 'calls.jsonl');
}

/** How much may wait to be written while the disk is slow, in UTF-16 code units; more is dropped and counted. */
const MOST_WAITING = 4 * 1024 * 1024;
/** How long closing waits for the disk, in milliseconds. */
const CLOSE_MS = 1000;

/**
 * Appends a line for each call. Calls never wait for the disk; lines that cannot be written are counted. Several
 * gateways may share the file: each appends whole lines, and only one at a time starts a new file.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  #lines: string[] = [];
  #waiting = 0;
  #dropped = 0;
  #failing = false;
  /** Whether the last write ended in the middle of a line. */
  #torn = false;
  #flushing: Promise<void> | undefined;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /** Never throws, and never waits. */
  write(record: AuditRecord): void {
    const line = `${JSON.stringify(record)}\n`;
    if (this.#waiting + line.length > MOST_WAITING) {
      this.#drop(1, 'the disk is too slow');
      return;
    }
    this.#lines.push(line);
    this.#waiting += line.length;
    // All lines of this turn of the event loop go out in one write.
    this.#flushing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#flush());
  }

  /** Writes the remaining lines, as far as the disk accepts them in time. */
  async close(): Promise<void> {
    await withTimeout(this.#flushing ?? Promise.resolve(), CLOSE_MS, () => undefined);
  }

  async #flush(): Promise<void> {
    while (this.#lines.length > 0) {
      const lines = this.#lines;
      this.#lines = [];
      try {
        const gap = this.#dropped === 0 ? '' : `${JSON.stringify(gapOf(this.#dropped))}\n`;
        const counted = this.#dropped;
        await this.#append(gap + lines.join(''));
        this.#dropped -= counted;
        if (this.#failing)
          this.#options.log.warn('the audit log is written again', {
            file: this.#options.file,
            dropped: counted,
          });
        this.#failing = false;
      } catch (error) {
        this.#drop(lines.length, messageOf(error));
      }
      this.#waiting = this.#lines.reduce((sum, line) => sum + line.length, 0);
    }
    this.#flushing = undefined;
  }

  /** Logs a warning once, until writing works again. */
  #drop(count: number, reason: string): void {
    this.#dropped += count;
    if (this.#failing) return;
    this.#failing = true;
    this.#options.log.warn('calls are missing from the audit log', { file: this.#options.file, reason });
  }

  async #append(text: string): Promise<void> {
    const { file, maxBytes } = this.#options;
    if ((await this.#size()) > maxBytes) await this.#rotate();
    const opened = await open(file, FLAGS, 0o600);
    try {
      if (!(await opened.stat()).isFile()) throw new Error('it is not a regular file');
      const bytes = Buffer.from(this.#torn ? `\n${text}` : text);
      const { bytesWritten } = await opened.write(bytes);
      if (bytesWritten > 0) this.#torn = bytesWritten < bytes.length;
      if (this.#torn) throw new Error('the disk is full');
    } finally {
      await opened.close();
    }
  }

  async #size(): Promise<number> {
    const { file } = this.#options;
    try {
      const found = await lstat(file);
      if (found.isFile()) return found.size;
      throw new Error(found.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a regular file');
    } catch (error) {
      if (nodeErrorCode(error) !== 'ENOENT') throw error;
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      return 0;
    }
  }

  /** Another gateway may have done it already. */
  #rotate(): Promise<void> {
    const { file, maxBytes, files } = this.#options;
    return withFileLock(file, () => {
      if ((lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) <= maxBytes) return;
      for (let older = files - 1; older > 0; older--) {
        const newer = older === 1 ? file : `${file}.${older - 1}`;
        if (existsSync(newer)) renameSync(newer, `${file}.${older}`);
      }
    });
  }
}

function gapOf(dropped: number): AuditRecord {
  return { time: new Date().toISOString(), dropped };
}

/**
 * O_APPEND keeps gateways from overwriting each other's lines. Links are not followed, and a pipe in place of the file
 * is an error instead of a wait. (Windows lacks the last two; a missing flag counts as 0.)
 */
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  ((constants.O_NOFOLLOW as number | undefined) ?? 0) |
  ((constants.O_NONBLOCK as number | undefined) ?? 0);
