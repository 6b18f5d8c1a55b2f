import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { matchPath } from '../shared/glob.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { sha256 } from '../shared/sha256.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { parseJson } from '../shared/parse-json.ts';
import { homeDirectory, stateDirectory } from '../shared/paths.ts';
import { CHANGE, readPrivateFile } from '../shared/private-file.ts';
import { readRegularFile, statOf } from '../shared/regular-file.ts';
import { writeFileAtomic } from '../shared/write-file.ts';
import type { Warn } from './candidate.ts';

/**
 * A project's files are untrusted until a person approves them: opening a cloned repository must not run its commands
 * because a host started us there. An approval is for a file at its path with its content; if others change the file,
 * it has to be approved again.
 */
export interface ProjectFile {
  /** Absolute. */
  readonly path: string;
  /** The hash of its content when it was read. */
  readonly hash: string;
}

/** If this is set to 1, every project is allowed. */
export const ALLOW_VARIABLE = 'SWITCHBOARD_ALLOW_PROJECT';

export interface ApprovalOptions {
  /** Whether every file is allowed. Default: if ALLOW_VARIABLE is 1. */
  readonly allowProject?: boolean | undefined;
  /** Directories whose files are allowed, as in `allowProjects` of the user file. */
  readonly patterns: readonly string[];
  /** Called for a file that can never be allowed. Default: it is silently ignored. */
  readonly warn?: Warn | undefined;
}

/** Determines which files of a project are allowed, and collects the others. */
export class ProjectApproval {
  readonly notAllowed: ProjectFile[] = [];
  readonly #everything: boolean;
  readonly #patterns: readonly string[];
  readonly #warn: Warn | undefined;
  #record: ApprovalRecord | undefined;

  constructor({ allowProject, patterns, warn }: ApprovalOptions) {
    this.#warn = warn;
    this.#everything = allowProject ?? process.env[ALLOW_VARIABLE] === '1';
    this.#patterns = patterns.map(withHome);
  }

  /** Whether a file may be used. A file that cannot be read is not used anyway; its reader reports why. */
  allows(path: string): boolean {
    if (this.#everything) return true;
    const directory = dirname(canonicalPath(path));
    if (this.#patterns.some((pattern) => isBelow(pattern, directory))) return true;
    if (statOf(path) === undefined) return false;
    let hash: string;
    try {
      hash = hashOfFile(path);
    } catch (error) {
      if (nodeErrorCode(error) !== undefined) return true;
      // By the time it is read, it may be a different file.
      this.#warn?.({ file: path, message: `is ignored: ${messageOf(error)}`, level: 'warn' });
      return false;
    }
    this.#record ??= this.#readRecord();
    if (this.#record.get(canonicalPath(path)) === hash) return true;
    this.notAllowed.push({ path, hash });
    return false;
  }

  /** A file that others could have written must not allow anything. */
  #readRecord(): ApprovalRecord {
    try {
      return readRecord(approvalRecordFile());
    } catch (error) {
      this.#warn?.({ message: `${messageOf(error)} Nothing is allowed until then.`, level: 'warn' });
      return new Map();
    }
  }
}

/** Stores that these files are allowed with the content they had. */
export async function allowFiles(files: readonly ProjectFile[]): Promise<void> {
  await changeRecord((record) => {
    for (const { path, hash } of files) {
      const key = canonicalPath(path);
      // The newest ones come last.
      record.delete(key);
      record.set(key, hash);
    }
    for (const key of [...record.keys()].slice(0, -MAX_FILES)) record.delete(key);
  });
}

/** Revokes the approvals at or below this path. Returns their paths. */
export async function denyFiles(path: string): Promise<string[]> {
  const key = canonicalPath(resolve(path));
  let denied: string[] = [];
  await changeRecord((record) => {
    denied = [...record.keys()].filter((each) => each === key || each.startsWith(`${key}${sep}`));
    for (const each of denied) record.delete(each);
  });
  return denied;
}

/** The allowed files, and whether their content has changed since. */
export function allowedFiles(): { readonly path: string; readonly changed: boolean }[] {
  return [...readRecord(approvalRecordFile())].map(([path, hash]) => ({
    path,
    changed: hashIfReadable(path) !== hash,
  }));
}

/** Changes files on behalf of their owner: files that were allowed before, or are new, are allowed afterwards. */
export async function keepApproval<T>(paths: readonly string[], change: () => T | Promise<T>): Promise<T> {
  const record = readRecord(approvalRecordFile());
  const before = paths.map((path) => ({ path, hash: hashIfReadable(path) }));
  const owned = before.filter(
    ({ path, hash }) => hash === undefined || record.get(canonicalPath(path)) === hash,
  );
  const result = await change();
  const changed = owned.flatMap(({ path, hash }) => {
    const now = hashIfReadable(path);
    return now === undefined || now === hash ? [] : [{ path, hash: now }];
  });
  if (changed.length > 0) await allowFiles(changed);
  return result;
}

/** The hash of each allowed file, by its key. */
type ApprovalRecord = Map<string, string>;

const VERSION = 1;
const MAX_FILES = 2000;

/** The file that stores the approvals. */
export function approvalRecordFile(): string {
  return join(stateDirectory(), 'allowed-files.json');
}

/** Directories are resolved, so that a link cannot pass a file off as another; the file itself keeps its name. */
function canonicalPath(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync.native(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}

/** Throws if the file cannot be read, is not regular or is too large. */
function hashOfFile(path: string): string {
  return sha256(readRegularFile(path));
}

/** Returns undefined instead of throwing. */
function hashIfReadable(path: string): string | undefined {
  try {
    return hashOfFile(path);
  } catch {
    return undefined;
  }
}

/** Throws STATE_NOT_PRIVATE if others could have written it. A damaged file allows nothing. */
function readRecord(file: string): ApprovalRecord {
  const text = readPrivateFile(file, notPrivate(file), CHANGE);
  const record = new Map<string, string>();
  const value = text === undefined ? undefined : parseJson(text);
  if (!isObject(value) || value.version !== VERSION || !isObject(value.files)) return record;
  for (const [key, hash] of Object.entries(value.files)) if (typeof hash === 'string') record.set(key, hash);
  return record;
}

async function changeRecord(change: (record: ApprovalRecord) => void): Promise<void> {
  const file = approvalRecordFile();
  // Loaded on demand: a host waits for us to start.
  const { withFileLock } = await import('../shared/file-lock.ts');
  await withFileLock(file, () => {
    const record = readRecord(file);
    change(record);
    const content = { version: VERSION, files: Object.fromEntries(record) };
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileAtomic(file, `${JSON.stringify(content, null, 2)}\n`);
    } catch (cause) {
      throw new SwitchboardError('STATE_NOT_WRITABLE', `Cannot write ${file}: ${messageOf(cause)}.`, {
        hint: 'Check the free disk space and the permissions, or set SWITCHBOARD_STATE_DIR to another directory.',
        cause,
      });
    }
  });
}

function notPrivate(file: string) {
  return (why: string, hint = 'Remove it, and allow your projects again.') =>
    new SwitchboardError('STATE_NOT_PRIVATE', `${file} cannot be used: ${why}.`, { hint });
}

function withHome(pattern: string): string {
  return pattern === '~' || pattern.startsWith('~/') ? join(homeDirectory(), pattern.slice(1)) : pattern;
}

/** `/a/**` is `/a` itself and everything below; `*` matches one folder. */
function isBelow(pattern: string, directory: string): boolean {
  const wanted = pattern.split(/[\\/]/).filter((part) => part !== '');
  const given = directory.split(sep).filter((part) => part !== '');
  return matchPath(wanted, given);
}
