import * as fs from 'node:fs';
import type { JsonObject } from '../../protocol/index.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { directoryProblem, fileProblem } from '../../shared/private-file.ts';
import { withRegularFile, type OpenFile } from '../../shared/regular-file.ts';
import { writeFileAtomic } from '../../shared/write-file.ts';

const MAX_BYTES = 1024 * 1024;

/** Reads a file that only its owner may read; undefined if there is none. Throws if others may have written it. */
export function readLoginFile(file: string): { readonly text: string } | undefined {
  try {
    return { text: withRegularFile(file, (opened) => textIn(file, opened)) };
  } catch (error) {
    if (nodeErrorCode(error) === 'ENOENT') return undefined;
    throw new Error(reasonOf(error), { cause: error });
  }
}

function textIn(file: string, opened: OpenFile): string {
  const why = fileProblem(file, opened);
  if (why !== undefined) throw new Error(why);
  return opened.stats.size > MAX_BYTES ? '' : opened.read(MAX_BYTES).toString('utf8');
}

/** Replaces a file in one step. Throws AUTH_STORE if that is not possible. */
export function writeLoginFile(file: string, content: object): void {
  try {
    const found = fs.lstatSync(file, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw new Error('it is not a regular file');
    // Flushed to disk, because the refresh token exists nowhere else.
    writeFileAtomic(file, JSON.stringify(content), { flush: 'name' });
  } catch (error) {
    throw cannotStore(file, error);
  }
}

/** Creates the directory of logins, accessible only to its owner. Throws AUTH_STORE if that is not possible. */
export function prepareFolder(folder: string, parent: string): void {
  try {
    refuseOpen(folder, parent);
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = fs.lstatSync(folder);
    if (!found.isDirectory()) throw new Error('it is not a directory');
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700);
  } catch (error) {
    throw cannotStore(folder, error);
  }
}

/** If others can write to a directory, they can place their own login in it. */
export function refuseOpen(...directories: readonly string[]): void {
  for (const directory of directories) {
    const why = directoryProblem(directory);
    if (why !== undefined) throw new Error(why);
  }
}

/** Identifies a version of a file: every write creates a new file. Undefined if there is none. */
export function versionOf(file: string): string | undefined {
  try {
    const found = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false });
    return found && [found.ino, found.mtimeNs, found.ctimeNs, found.size].join(' ');
  } catch {
    // The next read reports the reason, once.
    return 'out of reach';
  }
}

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function cannotStore(path: string, cause: unknown): SwitchboardError {
  return new SwitchboardError('AUTH_STORE', `The login cannot be stored in ${path}: ${reasonOf(cause)}.`, {
    hint: 'Check that it is a directory you own, or set SWITCHBOARD_STATE_DIR to one.',
    cause,
  });
}

/** The system's message about a link in place of a file means nothing to people. */
function reasonOf(error: unknown): string {
  return nodeErrorCode(error) === 'ELOOP' ? 'it is a symbolic link' : messageOf(error);
}
