import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { nodeErrorCode } from '../../shared/node-error-code.ts';

/** One change of the disk that happens whole or not at all, and does nothing where it has happened already. */
export interface Step {
  /** What it does, for people. */
  readonly text: string;
  run(): void;
}

/** Whether something has this name, be it a link to nowhere. */
export function isThere(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function isFile(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Whether two names lead to the same bytes: one file, or a copy where the file system knows no second name. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => fs.lstatSync(path, { throwIfNoEntry: false }));
  if (a?.isFile() !== true || b?.isFile() !== true) return false;
  if (a.ino === b.ino && a.dev === b.dev) return true;
  return fs.readFileSync(one).equals(fs.readFileSync(other));
}

/** Makes a directory that is for a moment only, or stays. */
export function makeDirectory(path: string): void {
  if (isThere(path)) return;
  fs.mkdirSync(path);
  settle(dirname(path));
}

/** Writes a new file and waits until it is on the disk. Replaces one that was left half written. */
export function writeNew(path: string, content: string, mode: number): void {
  fs.rmSync(path, { force: true });
  const descriptor = fs.openSync(path, 'wx', mode);
  try {
    fs.writeFileSync(descriptor, content);
    // What the process masks out of the rights of new files must not come off the rights of an old one.
    fs.fchmodSync(descriptor, mode);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Gives a file a second name, so that it stays the same file under the new one: its rights, its age, its identity. */
export function nameAlso(file: string, name: string): void {
  fs.rmSync(name, { force: true });
  try {
    fs.linkSync(file, name);
  } catch {
    // Some file systems know only one name for a file.
    const { atime, mtime, mode } = fs.statSync(file);
    fs.copyFileSync(file, name, fs.constants.COPYFILE_EXCL);
    fs.chmodSync(name, mode & 0o777);
    fs.utimesSync(name, atime, mtime);
    // The file itself is about to be replaced; the copy must not be in memory only by then.
    settle(name);
  }
}

/** Moves where there is something to move; what has the new name is replaced, unless it is a directory. */
export function move(from: string, to: string): void {
  if (!isThere(from)) return;
  fs.renameSync(from, to);
  settle(dirname(from));
  settle(dirname(to));
}

export function removeFile(path: string): void {
  fs.rmSync(path, { force: true });
}

/** Removes a directory that is empty. False where it is not. */
export function removeDirectory(path: string): boolean {
  if (!isThere(path)) return true;
  try {
    fs.rmdirSync(path);
  } catch (error) {
    const code = nodeErrorCode(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') return false;
    throw error;
  }
  settle(dirname(path));
  return true;
}

/** Waits until a file, or the names in a directory, are on the disk, if the system supports that. */
export function settle(path: string): void {
  try {
    const descriptor = fs.openSync(path, 'r');
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    // Windows opens no directories; the change is made all the same.
  }
}
