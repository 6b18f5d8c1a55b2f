import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupPath, keptTexts, pruneBackups } from '../shared/backups.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { withFileLock } from '../shared/file-lock.ts';
import { NotRegular, readForReplacing, replaceFile } from '../shared/replace-file.ts';
import { TextFault, UnsafeEdit } from './container.ts';

export interface ChangeFileOptions {
  readonly file: string;
  /** Where the backup is kept. */
  readonly stateDirectory: string;
  /**
   * Edits the text; undefined means no file, both as input and as output. Called again if another program writes the
   * file in the meantime. `earlier` returns the existing backups, newest first.
   */
  readonly change: (text: string | undefined, earlier: () => readonly string[]) => string | undefined;
  /** Called with the change directly before each attempt to write it. Default: not called. */
  readonly onWrite?: ((change: FileChange) => void) | undefined;
  /** Whether a new file is only for its owner. Default false. */
  readonly ownerOnly?: boolean | undefined;
  /** Whether nothing is written. Default false. */
  readonly dryRun?: boolean | undefined;
}

export interface FileChange {
  readonly file: string;
  /** Undefined if there is no file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface ChangedFile extends FileChange {
  /** The path of the backup; undefined if nothing changed or there was no file. */
  readonly backup: string | undefined;
}

/**
 * Changes a file that another program may also write: atomically, with its permissions, through links. Throws
 * HOST_FILE_BROKEN, HOST_FILE_UNREADABLE, HOST_FILE_NOT_WRITABLE, HOST_FILE_BUSY or HOST_NOT_EDITABLE and leaves the
 * file as it was; throws STATE_NOT_WRITABLE if the backup cannot be written.
 */
export async function changeFile(options: ChangeFileOptions): Promise<ChangedFile> {
  const { file, dryRun = false } = options;
  return dryRun ? changeAlone(options) : withFileLock(file, () => changeAlone(options));
}

/** The host does not wait for our lock; if it was faster, we start again. */
async function changeAlone(options: ChangeFileOptions): Promise<ChangedFile> {
  const { file, stateDirectory, change, onWrite, ownerOnly = false, dryRun = false } = options;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = reading(file, () => readForReplacing(file));
    const before = found && textOf(file, found.bytes);
    const after = withFileContext(file, () => change(before, () => keptTexts(stateDirectory, file)));
    if (after === before || dryRun) return { file, before, after, backup: undefined };
    // A file that is to be deleted contains nothing worth a backup.
    const backup = found && after !== undefined ? backupPath(stateDirectory, file) : undefined;
    const done = writing(file, () => {
      mkdirSync(dirname(file), { recursive: true });
      onWrite?.({ file, before, after });
      const content = after === undefined ? undefined : Buffer.from(after, 'utf8');
      return replaceFile(file, found, content, { backup, mode: ownerOnly ? 0o600 : undefined });
    });
    if (done) {
      pruneBackups(stateDirectory);
      return { file, before, after, backup };
    }
    if (backup !== undefined) rmSync(backup, { force: true });
    // Randomized, so that two programs do not retry in step.
    await sleep(Math.random() * PAUSE_MS);
  }
  throw new SwitchboardError('HOST_FILE_BUSY', `${file} is being changed by another program.`, {
    hint: 'Nothing was changed. Try again later, or close that program first.',
  });
}

/** The text of a file; undefined if there is none. Throws like changeFile. */
export function readText(file: string): string | undefined {
  const found = reading(file, () => readForReplacing(file));
  return found && textOf(file, found.bytes);
}

/** Turns any problem with a text into an error that names its file. */
export function withFileContext<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof UnsafeEdit) {
      throw new SwitchboardError(
        'HOST_NOT_EDITABLE',
        `${file} has a structure that cannot be edited safely.`,
        {
          hint: `Nothing was changed. ${error.message}`,
        },
      );
    }
    if (!(error instanceof TextFault)) throw error;
    throw new SwitchboardError('HOST_FILE_BROKEN', `${file}, ${error.message}.`, {
      hint: 'Nothing was changed. Correct the file first.',
      cause: error,
    });
  }
}

/** How often we start again if another program writes the file in the meantime. */
const ATTEMPTS = 8;
/** The longest pause before that, in milliseconds. */
const PAUSE_MS = 50;

/** The complete text: anything we cannot decode would be lost. */
function textOf(file: string, bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new SwitchboardError('HOST_FILE_BROKEN', `${file} is not valid UTF-8.`, {
    hint: 'Nothing was changed. Save it as UTF-8 and try again.',
  });
}

function reading<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const why = cause instanceof NotRegular ? `is ${cause.message}` : `cannot be read: ${messageOf(cause)}`;
    throw new SwitchboardError('HOST_FILE_UNREADABLE', `${file} ${why}.`, { cause });
  }
}

function writing<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof SwitchboardError) throw cause;
    throw new SwitchboardError('HOST_FILE_NOT_WRITABLE', `Cannot write ${file}: ${messageOf(cause)}.`, {
      hint: 'Nothing was changed. Check the permissions of the file and its directory.',
      cause,
    });
  }
}
