import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, SwitchboardError } from './errors.ts';
import { nodeErrorCode } from './node-error-code.ts';
import { statOf, withRegularFile, type OpenFile } from './regular-file.ts';
import { shellWord } from './shell-word.ts';
import { draftsIn } from './write-file.ts';

/** Says why a file is not trusted, and what to do about it where that is special. */
type PrivateFileProblem = (why: string, hint?: string) => SwitchboardError;

/**
 * The text of a file that only its owner may read or change; undefined where there is none. Throws what `problem` makes
 * where others could have: it or its directory is open to them or theirs, or it is a link or has a second name.
 * `forbidden` are the permissions that others must not have.
 */
export function readPrivateFile(
  file: string,
  problem: PrivateFileProblem,
  forbidden = READ_OR_CHANGE,
): string | undefined {
  try {
    const directory = dirname(file);
    const outside = directoryProblem(directory);
    if (outside !== undefined)
      throw problem(
        `${outside}: ${directory}`,
        `Make sure that it is yours, then run: chmod 700 ${shellWord(directory)}`,
      );
    return withRegularFile(file, (opened) => {
      const why = fileProblem(file, opened, forbidden);
      if (why !== undefined)
        throw problem(
          why,
          why === OPEN_TO_OTHERS
            ? `Run: chmod 600 ${shellWord(file)}. If someone may have read or changed it, delete it instead.`
            : undefined,
        );
      return opened.read().toString('utf8');
    });
  } catch (error) {
    const code = nodeErrorCode(error);
    if (code === 'ENOENT') return undefined;
    if (error instanceof SwitchboardError) throw error;
    throw problem(code === 'ELOOP' ? 'it is a symbolic link' : messageOf(error));
  }
}

const READ_OR_CHANGE = 0o077;
/** For a file that is no secret. */
export const CHANGE = 0o022;
const OPEN_TO_OTHERS = 'other users can read or change it';

/** Why a file may have been read or written by others; undefined if only we can do so. */
export function fileProblem(
  file: string,
  { descriptor, stats }: OpenFile,
  forbidden = READ_OR_CHANGE,
): string | undefined {
  if (us() === undefined) return undefined;
  if (stats.uid !== us()) return 'it belongs to another user';
  if ((stats.mode & forbidden) !== 0) return OPEN_TO_OTHERS;
  return hasSecondName(file, descriptor, stats) ? 'it has a second name (a hard link)' : undefined;
}

/** Why others could put files into a directory; undefined if they cannot, or if there is none. */
export function directoryProblem(directory: string): string | undefined {
  const found = statOf(directory);
  if (found === undefined || us() === undefined) return undefined;
  // Root may do everything anyway.
  if (found.uid !== us() && found.uid !== 0) return 'its directory belongs to another user';
  return (found.mode & CHANGE) === 0 ? undefined : 'other users can write to its directory';
}

/** Undefined on Windows, where other rules apply. */
function us(): number | undefined {
  return process.geteuid?.();
}

/** Whether the file has another name than its own and that of the draft which it was a moment ago. */
function hasSecondName(file: string, descriptor: number, { nlink, ino }: fs.Stats): boolean {
  if (nlink === 1) return false;
  const drafts = draftsIn(dirname(file)).filter(
    (draft) => draft.file === file && fs.lstatSync(draft.path, { throwIfNoEntry: false })?.ino === ino,
  );
  // Counted only now: a draft that went away meanwhile is not counted any more.
  return fs.fstatSync(descriptor).nlink - drafts.length > 1;
}
