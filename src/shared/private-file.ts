import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, SwitchboardError } from './errors.ts';
import { nodeErrorCode } from './node-error-code.ts';
import { statOf, withRegularFile, type OpenFile } from './regular-file.ts';
import { shellWord } from './shell-word.ts';
import { draftsIn } from './write-file.ts';

/** Creates the error for a file that is not trusted, with a hint if there is a specific one. */
type PrivateFileProblem = (why: string, hint?: string) => SwitchboardError;

/**
 * The text of a file that only its owner may read or change; undefined if there is none. Throws the error of `problem`
 * if others could have done so: the file or its directory is open to them or belongs to them, or the file is a link or
 * has a second name. `forbidden` contains the permissions that others must not have.
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
/** For a file that is not secret. */
export const CHANGE = 0o022;
const OPEN_TO_OTHERS = 'other users can read or change it';

/** Why others may have read or written a file; undefined if only we can. */
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

/** Why others could put files into a directory; undefined if they cannot, or if it does not exist. */
export function directoryProblem(directory: string): string | undefined {
  const found = statOf(directory);
  if (found === undefined || us() === undefined) return undefined;
  // Root can do everything anyway.
  if (found.uid !== us() && found.uid !== 0) return 'its directory belongs to another user';
  return (found.mode & CHANGE) === 0 ? undefined : 'other users can write to its directory';
}

/** Undefined on Windows, where other rules apply. */
function us(): number | undefined {
  return process.geteuid?.();
}

/** Whether the file has another name besides its own and that of the draft it was a moment ago. */
function hasSecondName(file: string, descriptor: number, { nlink, ino }: fs.Stats): boolean {
  if (nlink === 1) return false;
  const drafts = draftsIn(dirname(file)).filter(
    (draft) => draft.file === file && fs.lstatSync(draft.path, { throwIfNoEntry: false })?.ino === ino,
  );
  // Counted only now, because a draft that has since been removed no longer counts.
  return fs.fstatSync(descriptor).nlink - drafts.length > 1;
}
