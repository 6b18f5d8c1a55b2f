import * as fs from 'node:fs';
import { join } from 'node:path';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { withLock, type LockOptions } from '../../shared/lock.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { directoryProblem, fileProblem } from '../../shared/private-file.ts';
import { withRegularFile, type OpenFile } from '../../shared/regular-file.ts';
import { sha256 } from '../../shared/sha256.ts';
import { writeFileAtomic } from '../../shared/write-file.ts';
import { asCredentials, type Credentials, type LoginOptions } from './credentials.ts';

/** What is kept of the login to one server: a file of its own, `auth/<hash>.json` in the state directory. */
export interface CredentialStore {
  /** Runs the work while no other process has the lock of this login. The directory must exist, see `prepare`. */
  locked<T>(work: () => Promise<T> | T, options?: Pick<LockOptions, 'timeoutMs' | 'signal'>): Promise<T>;
  /** What is stored now; undefined where there is nothing that can be used. Cheap while the file stays the same. */
  read(): Credentials | undefined;
  /** In the place of what was there, in one step. Throws AUTH_STORE where that cannot be. */
  write(credentials: Credentials): void;
  /** Deletes the file; false where there was none. */
  remove(): boolean;
  /** Makes the directory, for its owner only. Throws AUTH_STORE where that cannot be. */
  prepare(): void;
}

const MAX_BYTES = 1024 * 1024;
/** An issuer may take a while to respond to another process. In milliseconds. */
const LOCK_TIMEOUT_MS = 60_000;

export function createStore({ server, url, directory, log }: Omit<LoginOptions, 'oauth'>): CredentialStore {
  const folder = join(directory, 'auth');
  const key = keyOf(server, url);
  const file = join(folder, `${key}.json`);
  let known: { readonly version: string; readonly credentials: Credentials | undefined } | undefined;
  const warn = (message: string, reason?: string): void =>
    log.warn(message, { server, file, ...(reason === undefined ? {} : { reason }) });

  const textIn = (opened: OpenFile): string => {
    const why = fileProblem(file, opened);
    if (why !== undefined) throw new Error(why);
    return opened.stats.size > MAX_BYTES ? '' : opened.read(MAX_BYTES).toString('utf8');
  };
  const load = (): Credentials | undefined => {
    try {
      refuseOpen();
      const credentials = parse(withRegularFile(file, textIn));
      if (credentials === undefined) {
        setAside(file);
        warn('the stored login is damaged and was set aside; log in again');
        return undefined;
      }
      // Tokens go to the server they were made for, whatever file they are found in.
      if (credentials.key === key) return credentials;
      warn('the stored login is for another server and is not used');
      return undefined;
    } catch (error) {
      warn('the stored login cannot be read', reasonOf(error));
      return undefined;
    }
  };

  /** Where others can put files, they can put a login of theirs. */
  const refuseOpen = (): void => {
    const why = directoryProblem(directory) ?? directoryProblem(folder);
    if (why !== undefined) throw new Error(why);
  };
  const prepare = (): void => {
    try {
      refuseOpen();
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const found = fs.lstatSync(folder);
      if (!found.isDirectory()) throw new Error('it is not a directory');
      if (isOpenToOthers(found)) fs.chmodSync(folder, 0o700);
    } catch (error) {
      throw cannotStore(folder, error);
    }
  };

  return {
    locked: async (work, options) =>
      withLock(`login ${join(fs.realpathSync.native(folder), key)}`, work, {
        what: `the login to ${server}`,
        timeoutMs: LOCK_TIMEOUT_MS,
        ...options,
      }),
    prepare,
    read() {
      const version = versionOf(file);
      if (version === undefined) return (known = undefined);
      if (known?.version !== version) {
        const credentials = load();
        // Reading may have changed it: its mode, or its place.
        known = { version: versionOf(file) ?? version, credentials };
      }
      return known.credentials;
    },
    write(credentials) {
      prepare();
      try {
        const found = fs.lstatSync(file, { throwIfNoEntry: false });
        if (found !== undefined && !found.isFile()) throw new Error('it is not a regular file');
        // A refresh token exists only here.
        writeFileAtomic(file, JSON.stringify({ ...credentials, key }), { flush: 'name' });
      } catch (error) {
        throw cannotStore(file, error);
      }
    },
    remove() {
      const existed = fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
      fs.rmSync(file, { force: true });
      return existed;
    },
  };
}

/** A login belongs to a server under its name and address; neither becomes part of a path. */
export function keyOf(server: string, url: string): string {
  return sha256(JSON.stringify([server, url])).slice(0, 32);
}

function cannotStore(path: string, cause: unknown): SwitchboardError {
  return new SwitchboardError('AUTH_STORE', `The login cannot be stored in ${path}: ${reasonOf(cause)}.`, {
    hint: 'Check that it is a directory you own, or set SWITCHBOARD_STATE_DIR to one.',
    cause,
  });
}

/** What the system says of a link in the place of a file is not for people. */
function reasonOf(error: unknown): string {
  return nodeErrorCode(error) === 'ELOOP' ? 'it is a symbolic link' : messageOf(error);
}

function parse(text: string): Credentials | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? asCredentials(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Tells one state of a file from the next: every write makes a new file. */
function versionOf(file: string): string | undefined {
  try {
    const found = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false });
    return found && [found.ino, found.mtimeNs, found.ctimeNs, found.size].join(' ');
  } catch {
    // The next read reports why, once.
    return 'out of reach';
  }
}

function isOpenToOthers({ mode }: fs.Stats): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0;
}

/** Kept, since a person may want to look at it; never where the next one would be written. */
function setAside(file: string): void {
  fs.renameSync(file, `${file}.damaged-${Date.now()}`);
}
