import * as fs from 'node:fs';
import { readRegularFile, statOf } from './regular-file.ts';
import { retryWhileHeld } from './retry-while-held.ts';
import { putInPlace, writeDraft, writeFileAtomic, type WriteFileOptions } from './write-file.ts';

/** A file as it was read, with everything needed to replace it. */
export interface ReadFile {
  /** The file itself if the name is a link to it. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly stats: fs.Stats;
}

export interface ReplaceFileOptions {
  /** Where the old content is saved. Default: nowhere. */
  readonly backup?: string | undefined;
  /** The permissions of a new file. Default 0o644. */
  readonly mode?: number | undefined;
  /** Whether the file is accessible only to its owner afterwards, whatever its permissions were. Default false. */
  readonly ownerOnly?: boolean | undefined;
}

/** Undefined if there is none. Throws if it is neither a regular file nor a link to one. */
export function readForReplacing(file: string): ReadFile | undefined {
  if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const stats = statOf(file);
  if (stats?.isFile() !== true)
    throw new NotRegular(stats === undefined ? 'a broken link' : 'not a regular file');
  const path = fs.realpathSync(file);
  return { path, bytes: readRegularFile(path), stats };
}

/** What is at this path cannot be replaced; the message says what it is. */
export class NotRegular extends Error {}

/**
 * Replaces the content that was read, in one step and with the same permissions; `undefined` deletes the file. Returns
 * false without a change if another program has changed the file since.
 */
export function replaceFile(
  file: string,
  found: ReadFile | undefined,
  content: Buffer | undefined,
  { backup, mode = 0o644, ownerOnly = false }: ReplaceFileOptions = {},
): boolean {
  const path = found?.path ?? file;
  // A new file could replace a read-only one, but its owner made it read-only on purpose.
  if (found !== undefined) fs.accessSync(path, fs.constants.W_OK);
  const next =
    content &&
    writeDraft(
      path,
      content,
      found ? { like: rightsOf(found, ownerOnly) } : { mode: ownerOnly ? 0o600 : mode },
    );
  try {
    if (found === undefined) return next === undefined || putInPlace(next, path);
    if (backup !== undefined) writeFileAtomic(backup, found.bytes, { like: found.stats });
    // Read again at the last moment, to keep the window in which another program's change could be lost small.
    if (!readRegularFile(path).equals(found.bytes)) return false;
    retryWhileHeld(path, () => {
      if (next === undefined) fs.rmSync(path);
      else fs.renameSync(next, path);
    });
    return true;
  } finally {
    // After the change has been made, nothing may fail any more.
    if (next !== undefined && fs.existsSync(next)) fs.rmSync(next, { force: true });
  }
}

function rightsOf({ stats: { uid, gid, mode } }: ReadFile, ownerOnly: boolean): WriteFileOptions['like'] {
  return { uid, gid, mode: ownerOnly ? mode & 0o700 : mode };
}
