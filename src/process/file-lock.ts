import { randomUUID } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SwitchboardError } from '../shared/errors.ts';
import { processStatus, ownIdentity, type ProcessIdentity } from './process-identity.ts';

export interface FileLockOptions {
  /** How long to wait for the lock, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number;
  /** Age at which a lock counts as stale if its process is not visible from here, in milliseconds. Default 120 000. */
  readonly strangerAge?: number;
  /** Aborts the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** A partly written file exists only for a moment; older ones are stale. In milliseconds. */
const UNREADABLE_AGE = 5000;
/** Pause between two attempts, in milliseconds, plus a random pause up to the same length. */
const PAUSE = 15;
/** Every so many attempts, check whether the holder still runs. */
const LOOKS = 20;

/**
 * Runs the work while holding the lock file, exclusive among processes and within this one. Takes over a lock left by a
 * process that was killed. The directory of the file must exist.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T> | T,
  options: FileLockOptions = {},
): Promise<T> {
  const { timeoutMs = 60_000, strangerAge = 120_000, signal } = options;
  const ours = JSON.stringify({ ...ownIdentity(), id: randomUUID() });
  const until = performance.now() + timeoutMs;
  for (let tries = 0; !claim(file, ours); tries++) {
    // Checking a process is expensive on some systems.
    if (tries % LOOKS === 0) clearLeftBehind(file, strangerAge);
    if (signal?.aborted === true) throw new SwitchboardError('STOPPED', `Waiting for ${file} was stopped.`);
    if (performance.now() > until) throw busy(file, timeoutMs);
    await new Promise((resume) => setTimeout(resume, PAUSE * (1 + Math.random())));
  }
  try {
    return await work();
  } finally {
    // Another process may have considered the lock stale and taken it over: then the file is no longer ours.
    if (read(file) === ours) rmSync(file, { force: true });
  }
}

function busy(file: string, timeoutMs: number): SwitchboardError {
  return new SwitchboardError('LOCK_BUSY', `Another process has held ${file} for ${timeoutMs} ms.`, {
    hint: 'If no other Switchboard is running, delete that file.',
  });
}

/** Creates the file with its whole content in one step, unless it exists. */
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

/** Error codes of file systems without hard links. */
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
 * Removes the lock of a process that is gone. Only one process may do so at a time: otherwise a second one would remove
 * the lock that the first one has just created in its place.
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
