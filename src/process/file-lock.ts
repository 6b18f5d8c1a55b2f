import { randomUUID } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SwitchboardError } from '../shared/errors.ts';
import { processStatus, ownIdentity, type ProcessIdentity } from './process-identity.ts';

export interface FileLockOptions {
  /** How long to wait for others, in milliseconds. Default 60 000. */
  readonly patience?: number;
  /** A lock whose process cannot be seen from here counts as left behind when it is as old as this, in milliseconds. Default 120 000. */
  readonly strangerAge?: number;
  /** Stops the waiting. */
  readonly signal?: AbortSignal | undefined;
}

/** A file half written is that for a moment only; in milliseconds. */
const UNREADABLE_AGE = 5000;
/** Between two looks at a lock that another one holds, in milliseconds, and as much again by chance. */
const PAUSE = 15;
/** Of so many tries to get it, one looks whether its process is still there. */
const LOOKS = 20;

/**
 * Does the work while no other process, and nobody else in this one, does work under the same file. What a process
 * leaves that was killed meanwhile is taken over. The directory of the file has to exist.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T> | T,
  options: FileLockOptions = {},
): Promise<T> {
  const { patience = 60_000, strangerAge = 120_000, signal } = options;
  const ours = JSON.stringify({ ...ownIdentity(), id: randomUUID() });
  const until = performance.now() + patience;
  for (let tries = 0; !claim(file, ours); tries++) {
    // To ask after a process is dear on some systems.
    if (tries % LOOKS === 0) clearLeftBehind(file, strangerAge);
    if (signal?.aborted === true) throw new SwitchboardError('STOPPED', `Waiting for ${file} was stopped.`);
    if (performance.now() > until) throw busy(file, patience);
    await new Promise((resume) => setTimeout(resume, PAUSE * (1 + Math.random())));
  }
  try {
    return await work();
  } finally {
    // Another process may have considered the lock stale and taken it over: then the file is no longer ours.
    if (read(file) === ours) rmSync(file, { force: true });
  }
}

function busy(file: string, patience: number): SwitchboardError {
  return new SwitchboardError('LOCK_BUSY', `Another process has held ${file} for ${patience} ms.`, {
    hint: 'If no other Switchboard is running, delete that file.',
  });
}

/** Makes the file with its whole content in one step, unless there is one. */
function claim(file: string, content: string): boolean {
  const draft = `${file}.${process.pid}-${randomUUID().slice(0, 8)}`;
  try {
    writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
    try {
      linkSync(draft, file);
    } finally {
      rmSync(draft, { force: true });
    }
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== undefined && WITHOUT_LINKS.has(code)) return create(file, content);
    throw error;
  }
}

/** What file systems say that know no hard links. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL', 'EISDIR']);

function create(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a process that is gone. Only one at a time may: otherwise the second one to find it dead would
 * remove what the first one has put in its place.
 */
function clearLeftBehind(file: string, strangerAge: number): void {
  if (!isLeftBehind(file, strangerAge)) return;
  const right = `${file}.clearing`;
  if (isLeftBehind(right, strangerAge)) rmSync(right, { force: true });
  const ours = JSON.stringify(ownIdentity());
  if (!claim(right, ours)) return;
  try {
    if (isLeftBehind(file, strangerAge)) rmSync(file, { force: true });
  } finally {
    rmSync(right, { force: true });
  }
}

function isLeftBehind(file: string, strangerAge: number): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return false;
  const age = Date.now() - found.mtimeMs;
  const mark = asMark(read(file));
  if (mark === undefined) return age > UNREADABLE_AGE;
  const fate = processStatus(mark);
  return fate === 'gone' || (fate === 'unknown' && age > strangerAge);
}

function read(file: string): string | undefined {
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function asMark(text: string | undefined): ProcessIdentity | undefined {
  try {
    const value = JSON.parse(text ?? '') as Partial<ProcessIdentity> | null;
    const { pid, startTime, place } = value ?? {};
    if (!Number.isSafeInteger(pid) || typeof startTime !== 'number' || typeof place !== 'string')
      return undefined;
    return { pid: pid!, startTime, place };
  } catch {
    return undefined;
  }
}
