import * as fs from 'node:fs';
import { basename, extname, join } from 'node:path';
import { messageOf, SwitchboardError } from './errors.ts';
import { withRegularFile } from './regular-file.ts';
import { sha256 } from './sha256.ts';
import { isDraft, removeOldDrafts, writeFileAtomic } from './write-file.ts';

/** An earlier text of a file that we changed. Backups are in the state directory, readable only by their owner. */
export interface Backup {
  /** The file that was changed. */
  readonly file: string;
  /** The path of the backup. */
  readonly path: string;
  /** When it was made, as an ISO date. */
  readonly at: string;
}

/** How many backups of one file are kept. */
const KEPT = 5;
/** How long a backup is kept, in milliseconds: 90 days. */
const LONGEST_MS = 90 * 24 * 60 * 60 * 1000;
/** Longer than any change of a file takes, in milliseconds. */
const NEW_MS = 60 * 60 * 1000;

/** The path for a backup of a file's current text. Throws STATE_NOT_WRITABLE. */
export function backupPath(stateDirectory: string, file: string, now = Date.now()): string {
  const folder = folderOf(stateDirectory, file);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileAtomic(join(folder, ORIGIN), file, { flush: 'nothing' });
  } catch (cause) {
    throw new SwitchboardError('STATE_NOT_WRITABLE', `Cannot write to ${folder}: ${messageOf(cause)}.`, {
      hint: 'Nothing was changed, because no backup could be written. Set SWITCHBOARD_STATE_DIR to a directory you own.',
      cause,
    });
  }
  const path = join(folder, nameAt(now) + extname(file));
  return fs.existsSync(path) ? backupPath(stateDirectory, file, now + 1) : path;
}

/** The backups of a file, newest first. */
export function keptTexts(stateDirectory: string, file: string): string[] {
  return pathsIn(folderOf(stateDirectory, file)).flatMap((path) => {
    const text = textOf(path);
    return text === undefined ? [] : [text];
  });
}

/** All backups, by file, newest first. */
export function allBackups(stateDirectory: string): Backup[] {
  return foldersIn(stateDirectory)
    .flatMap((folder) => {
      const file = originOf(folder);
      return pathsIn(folder).map((path) => ({ file, path, at: timeOf(path) }));
    })
    .sort((a, b) => (a.file === b.file ? (a.at < b.at ? 1 : -1) : a.file < b.file ? -1 : 1));
}

/** Deletes old backups, and all but the last few of each file. Never throws: an extra backup does no harm. */
export function pruneBackups(stateDirectory: string, now = Date.now()): void {
  const oldest = new Date(now - LONGEST_MS).toISOString();
  for (const folder of foldersIn(stateDirectory)) {
    try {
      const paths = pathsIn(folder);
      const kept = paths.slice(0, KEPT).filter((path) => timeOf(path) >= oldest);
      for (const path of paths) if (!kept.includes(path)) fs.rmSync(path, { force: true });
      removeOldDrafts(folder);
      // Another process may be about to write to a new folder.
      const isNew = fs.statSync(folder).mtimeMs > now - NEW_MS;
      if (kept.length === 0 && !isNew) fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      // They can be deleted next time.
    }
  }
}

/** The file that contains the path of the original next to its backups. */
const ORIGIN = 'origin';
const TIME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)/;

/** A time in a form that is valid in file names and sorts as text. */
function nameAt(now: number): string {
  return new Date(now).toISOString().replaceAll(/[:.]/g, '-');
}

function timeOf(path: string): string {
  return basename(path)
    .replace(TIME, '$1:$2:$3.$4')
    .replace(/(Z).*$/, '$1');
}

function folderOf(stateDirectory: string, file: string): string {
  const digest = sha256(file).slice(0, 12);
  return join(stateDirectory, 'backups', `${basename(file)}-${digest}`);
}

function foldersIn(stateDirectory: string): string[] {
  const root = join(stateDirectory, 'backups');
  return namesIn(root).map((name) => join(root, name));
}

/** Newest first. */
function pathsIn(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => TIME.test(name) && !isDraft(name))
    .sort()
    .toReversed()
    .map((name) => join(folder, name));
}

function originOf(folder: string): string {
  return textOf(join(folder, ORIGIN)) ?? basename(folder);
}

/** Undefined if the file is not one that we have written. */
function textOf(path: string): string | undefined {
  try {
    return withRegularFile(path, ({ read }) => read().toString('utf8'));
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}
