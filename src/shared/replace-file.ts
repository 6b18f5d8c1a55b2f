import * as fs from 'node:fs';
import { readRegularFile, statOf } from './regular-file.ts';
import { retryWhileHeld } from './retry-while-held.ts';
import { putInPlace, writeDraft, writeFileAtomic, type WriteFileOptions } from './write-file.ts';

/** A file as it was read, with what is needed to replace it. */
export interface ReadFile {
  /** The file itself, where the name is a link to it. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly stats: fs.Stats;
}

export interface ReplaceFileOptions {
  /** Where the old content is kept. Default nowhere. */
  readonly backup?: string | undefined;
  /** The rights of a file that is new. Default 0o644. */
  readonly mode?: number | undefined;
  /** Whether the file is for its owner only afterwards, whatever it was before. Default false. */
  readonly ownerOnly?: boolean | undefined;
}

/** Undefined where there is none. Throws where the name is not that of a regular file, or of a link to one. */
export function readForReplacing(file: string): ReadFile | undefined {
  if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const stats = statOf(file);
  if (stats?.isFile() !== true)
    throw new NotRegular(stats === undefined ? 'a broken link' : 'not a regular file');
  const path = fs.realpathSync(file);
  return { path, bytes: readRegularFile(path), stats };
}

/** What has the name of a file cannot be replaced; the message says what it is. */
export class NotRegular extends Error {}

/**
 * Puts new content in the place of what was read, in one step and with the same rights; `undefined` takes the file
 * away. Returns false without a change if another program has changed the file since.
 */
export function replaceFile(
  file: string,
  found: ReadFile | undefined,
  content: Buffer | undefined,
  { backup, mode = 0o644, ownerOnly = false }: ReplaceFileOptions = {},
): boolean {
  const path = found?.path ?? file;
  // A new file beside it could take its place even so; but who makes a file read-only means it.
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
    // Read again at the last moment, to keep the window for losing another program's change small.
    if (!readRegularFile(path).equals(found.bytes)) return false;
    retryWhileHeld(path, () => {
      if (next === undefined) fs.rmSync(path);
      else fs.renameSync(next, path);
    });
    return true;
  } finally {
    // After the change is made, nothing may fail any more.
    if (next !== undefined && fs.existsSync(next)) fs.rmSync(next, { force: true });
  }
}

function rightsOf({ stats: { uid, gid, mode } }: ReadFile, ownerOnly: boolean): WriteFileOptions['like'] {
  return { uid, gid, mode: ownerOnly ? mode & 0o700 : mode };
}
