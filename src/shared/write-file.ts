import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { nodeErrorCode } from './node-error-code.ts';
import { retryWhileHeld } from './retry-while-held.ts';

export interface WriteFileOptions {
  /** The permissions of the file. Default 0o600: only its owner can read it. */
  readonly mode?: number;
  /** A file whose owner and permissions to copy, instead of `mode`. */
  readonly like?: Pick<fs.Stats, 'uid' | 'gid' | 'mode'> | undefined;
  /**
   * What is certain to be on disk when this returns, even after a power cut. Default `content`: the file has either its
   * old content or the new one. `name`: it has the new one. `nothing`: for files that can be recreated.
   */
  readonly flush?: 'nothing' | 'content' | 'name';
}

/**
 * Replaces a file in one step: a reader sees either the old content or the new one, even if we are killed in between. A
 * link with that name is replaced, not followed.
 */
export function writeFileAtomic(
  file: string,
  content: string | Buffer,
  options: WriteFileOptions = {},
): void {
  const draft = writeDraft(file, content, options);
  try {
    retryWhileHeld(file, () => fs.renameSync(draft, file));
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
  if (options.flush === 'name') flushDirectory(dirname(file));
}

/** The same for a new file that only its owner can read. Returns false, without a change, if the file exists. */
export function createFileAtomic(file: string, content: string | Buffer): boolean {
  const draft = writeDraft(file, content);
  try {
    return putInPlace(draft, file);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Gives a draft the name of the file. Returns false if the file exists. The draft itself stays. */
export function putInPlace(draft: string, file: string): boolean {
  try {
    try {
      // Unlike a rename, neither of these replaces a file.
      fs.linkSync(draft, file);
    } catch {
      // Some file systems have no hard links.
      fs.copyFileSync(draft, file, fs.constants.COPYFILE_EXCL);
    }
    return true;
  } catch (error) {
    if (nodeErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Writes the content to a new file next to `file`, to be moved there. Returns its path. */
export function writeDraft(
  file: string,
  content: string | Buffer,
  { mode = 0o600, like, flush = 'content' }: WriteFileOptions = {},
): string {
  removeOldDrafts(dirname(file), file);
  // Need not be secret: it only has to differ from the drafts of other processes.
  const mark = Math.random().toString(16).slice(2, 14).padEnd(12, '0');
  const draft = `${file}.${mark}.tmp`;
  // Accessible only to us until its permissions are set, because it may contain secrets.
  const descriptor = fs.openSync(draft, 'wx', like ? 0o600 : mode);
  try {
    fs.writeFileSync(descriptor, content);
    if (like) setPermissions(descriptor, like);
    if (flush !== 'nothing') fs.fsyncSync(descriptor);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    // The system does not know which file a descriptor belongs to.
    throw error instanceof Error ? Object.assign(error, { path: file }) : error;
  } finally {
    fs.closeSync(descriptor);
  }
  return draft;
}

function setPermissions(descriptor: number, { uid, gid, mode }: NonNullable<WriteFileOptions['like']>): void {
  try {
    const ours = fs.fstatSync(descriptor);
    if (ours.uid !== uid || ours.gid !== gid) fs.fchownSync(descriptor, uid, gid);
  } catch {
    // Only root can change the owner; for other users, the file becomes their own.
  }
  fs.fchmodSync(descriptor, mode & 0o777);
}

const DRAFT = /^(.+)\.[0-9a-f]{12}\.tmp$/;

export function isDraft(name: string): boolean {
  return DRAFT.test(name);
}

/** A file that is being written, or was when its writer was killed. */
export interface Draft {
  readonly path: string;
  /** The file that it was to become. */
  readonly file: string;
}

export function draftsIn(directory: string): Draft[] {
  return fs.readdirSync(directory).flatMap((name) => {
    const file = DRAFT.exec(name)?.[1];
    return file === undefined ? [] : [{ path: join(directory, name), file: join(directory, file) }];
  });
}

/** Longer than any write takes, in milliseconds. */
const OLD_MS = 60 * 60 * 1000;

/** Removes drafts of killed writers from a directory; with `only`, just those of that file. Never throws. */
export function removeOldDrafts(directory: string, only?: string): void {
  try {
    for (const { path, file } of draftsIn(directory)) {
      if (only !== undefined && file !== only) continue;
      const written = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (written !== undefined && Date.now() - written > OLD_MS) fs.rmSync(path, { force: true });
    }
  } catch {
    // They can be removed next time.
  }
}

/** Flushes the names in a directory to disk, if the system supports that. */
function flushDirectory(directory: string): void {
  try {
    const descriptor = fs.openSync(directory, 'r');
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    // Windows can open directories, but not flush them.
  }
}
