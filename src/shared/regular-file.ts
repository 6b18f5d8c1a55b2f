import * as fs from 'node:fs';
import { nodeErrorCode } from './node-error-code.ts';

/** The largest file we read, in bytes. No configuration is larger. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** A file that is open for reading. */
export interface OpenFile {
  readonly descriptor: number;
  readonly stats: fs.Stats;
  /** Returns the content. Throws if it is larger than `maxBytes`. Default MAX_FILE_BYTES. */
  readonly read: (maxBytes?: number) => Buffer;
}

interface RegularFileOptions {
  /** Default MAX_FILE_BYTES. */
  readonly maxBytes?: number;
}

/**
 * The content of a file from an untrusted source: devices are not read, pipes are not waited for, and a growing file is
 * cut off. Throws an Error with the reason.
 */
export function readRegularFile(file: string | Buffer, { maxBytes }: RegularFileOptions = {}): Buffer {
  return opened(file, READ, ({ read }) => read(maxBytes));
}

/**
 * Opens one of our own files for reading while `use` runs. The same restrictions apply, and links are not followed
 * either.
 */
export function withRegularFile<T>(file: string, use: (file: OpenFile) => T): T {
  return opened(file, READ | NO_LINK, use);
}

/** The stats of what a path leads to; undefined if it leads nowhere, in a circle, or to where we have no access. */
export function statOf(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Whether a path leads to a file of any kind or in a circle; reading it reports what is wrong. */
export function isAnyFile(path: string): boolean {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch (error) {
    return nodeErrorCode(error) === 'ELOOP';
  }
}

/** Windows has neither flag. */
const READ = fs.constants.O_RDONLY | ((fs.constants.O_NONBLOCK as number | undefined) ?? 0);
const NO_LINK = (fs.constants.O_NOFOLLOW as number | undefined) ?? 0;

function opened<T>(file: string | Buffer, flags: number, use: (file: OpenFile) => T): T {
  const descriptor = fs.openSync(file, flags);
  try {
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    const read = (maxBytes = MAX_FILE_BYTES): Buffer => readAtMost(descriptor, stats.size, maxBytes);
    return use({ descriptor, stats, read });
  } finally {
    fs.closeSync(descriptor);
  }
}

/** The size is only a guess: the file may grow, and files in /proc report 0. */
function readAtMost(descriptor: number, size: number, maxBytes: number): Buffer {
  let buffer = Buffer.allocUnsafe(Math.min(size, maxBytes) + 1);
  for (let length = 0; ;) {
    const got = fs.readSync(descriptor, buffer, length, buffer.length - length, null);
    length += got;
    if (length > maxBytes) throw new Error(`it is larger than ${sizeText(maxBytes)}`);
    if (got === 0) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * length, maxBytes + 1));
  }
}

function sizeText(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / (1024 * 1024)} MiB` : `${bytes} bytes`;
}
