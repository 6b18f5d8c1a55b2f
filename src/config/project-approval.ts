import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { matchPath } from '../shared/glob.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { homeDirectory, stateDirectory } from '../shared/paths.ts';
import { readForReplacing, replaceFile } from '../shared/replace-file.ts';

/**
 * A project's files are untrusted until a person approves them: opening a cloned repository must not run its
 * commands because a host started us there. Allowed is a file at its place with its content; after a change by others
 * it has to be allowed again.
 */
export interface ProjectFile {
  /** Absolute. */
  readonly path: string;
  /** Of its content, when it was read. */
  readonly hash: string;
}

/** Set to 1, every project is allowed. */
export const ALLOW_VARIABLE = 'SWITCHBOARD_ALLOW_PROJECT';

export interface ApprovalOptions {
  /** Whether every file is allowed. Default: where ALLOW_VARIABLE is 1. */
  readonly allowProject?: boolean | undefined;
  /** Directories whose files are allowed, as in `allowProjects` of the user file. */
  readonly patterns: readonly string[];
}

/** Tells which files of a project are allowed, and collects those that are not. */
export class ProjectApproval {
  readonly notAllowed: ProjectFile[] = [];
  readonly #everything: boolean;
  readonly #patterns: readonly string[];
  #record: ApprovalRecord | undefined;

  constructor({ allowProject, patterns }: ApprovalOptions) {
    this.#everything = allowProject ?? process.env[ALLOW_VARIABLE] === '1';
    this.#patterns = patterns.map(withHome);
  }

  /** Whether a file may be used. A file that cannot be read is not used anyway; its reader reports why. */
  allows(path: string): boolean {
    if (this.#everything) return true;
    const directory = dirname(canonicalPath(path));
    if (this.#patterns.some((pattern) => isBelow(pattern, directory))) return true;
    // What is not a regular file now may be one when it is read.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    const hash = hashOfFile(path);
    if (hash === undefined) return true;
    if (hash === TOO_LARGE) return false;
    this.#record ??= readRecord(approvalRecordFile());
    if (this.#record.get(canonicalPath(path)) === hash) return true;
    this.notAllowed.push({ path, hash });
    return false;
  }
}

/** Remembers that these files are allowed, with the content they had. */
export function allowFiles(files: readonly ProjectFile[]): void {
  changeRecord((record) => {
    for (const { path, hash } of files) {
      const key = canonicalPath(path);
      // The newest come last.
      record.delete(key);
      record.set(key, hash);
    }
    for (const key of [...record.keys()].slice(0, -MAX_FILES)) record.delete(key);
  });
}

/** Forgets what was allowed at or below this path. Returns what that was. */
export function denyFiles(path: string): string[] {
  const key = canonicalPath(resolve(path));
  let denied: string[] = [];
  changeRecord((record) => {
    denied = [...record.keys()].filter((each) => each === key || each.startsWith(`${key}${sep}`));
    for (const each of denied) record.delete(each);
  });
  return denied;
}

/** The files that are allowed, and whether they still have the content that was. */
export function allowedFiles(): { readonly path: string; readonly changed: boolean }[] {
  return [...readRecord(approvalRecordFile())].map(([path, hash]) => ({
    path,
    changed: hashOfFile(path) !== hash,
  }));
}

/** Runs what changes files on behalf of their owner: those that were allowed before, or new, are allowed afterwards. */
export async function keepApproval<T>(paths: readonly string[], change: () => T | Promise<T>): Promise<T> {
  const record = readRecord(approvalRecordFile());
  const before = paths.map((path) => ({ path, hash: hashOfFile(path) }));
  const owned = before.filter(
    ({ path, hash }) => hash === undefined || record.get(canonicalPath(path)) === hash,
  );
  const result = await change();
  const changed = owned.flatMap(({ path, hash }) => {
    const now = hashOfFile(path);
    return now === undefined || now === hash ? [] : [{ path, hash: now }];
  });
  if (changed.length > 0) allowFiles(changed);
  return result;
}

/** The hash of each file that is allowed, by its key. */
type ApprovalRecord = Map<string, string>;

const VERSION = 1;
const MAX_FILES = 2000;
const MAX_BYTES = 4 * 1024 * 1024;
const ATTEMPTS = 20;
/** No configuration is larger. */
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;
const TOO_LARGE = 'too large';

/** Where is remembered what is allowed. */
export function approvalRecordFile(): string {
  return join(stateDirectory(), 'allowed-files.json');
}

/** Directories are resolved, so that no link can pass a file off as another; the file itself keeps its name. */
function canonicalPath(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}

/** Undefined for what is not there, or no regular file: a pipe would be waited for. */
function hashOfFile(path: string): string | undefined {
  try {
    const found = statSync(path);
    if (!found.isFile()) return undefined;
    if (found.size > MAX_CONFIG_BYTES) return TOO_LARGE;
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return undefined;
  }
}

function readRecord(file: string): ApprovalRecord {
  try {
    return parseRecord(readFileSync(file));
  } catch {
    // There is none, or none that can be read: nothing is allowed.
    return new Map<string, string>();
  }
}

function parseRecord(bytes: Buffer): ApprovalRecord {
  const value: unknown = bytes.length > MAX_BYTES ? undefined : JSON.parse(bytes.toString('utf8'));
  const record = new Map<string, string>();
  if (!isObject(value) || value.version !== VERSION || !isObject(value.files)) return record;
  for (const [key, hash] of Object.entries(value.files)) if (typeof hash === 'string') record.set(key, hash);
  return record;
}

function changeRecord(change: (record: ApprovalRecord) => void): void {
  const file = approvalRecordFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const present = readForReplacing(file);
    let record: ApprovalRecord = new Map();
    try {
      if (present !== undefined) record = parseRecord(present.bytes);
    } catch {
      // An unreadable file approves nothing and is replaced.
    }
    change(record);
    const bytes = Buffer.from(
      `${JSON.stringify({ version: VERSION, files: Object.fromEntries(record) }, null, 2)}\n`,
    );
    // False where another program was quicker.
    if (replaceFile(file, present, bytes, { mode: 0o600 })) return;
  }
  throw new SwitchboardError('STATE_BUSY', `${file} is being changed by another program.`, {
    hint: 'Try again.',
  });
}

function withHome(pattern: string): string {
  return pattern === '~' || pattern.startsWith('~/') ? join(homeDirectory(), pattern.slice(1)) : pattern;
}

/** `/a/**` is everything below `/a` and `/a` itself; `*` matches one folder. */
function isBelow(pattern: string, directory: string): boolean {
  const wanted = pattern.split(/[\\/]/).filter((part) => part !== '');
  const given = directory.split(sep).filter((part) => part !== '');
  return matchPath(wanted, given);
}
