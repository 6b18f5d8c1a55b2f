import * as fs from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../protocol/index.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { withLock, type LockOptions } from '../../shared/lock.ts';
import { sha256 } from '../../shared/sha256.ts';
import { asCredentials, type Credentials, type LoginKeychain, type LoginOptions } from './credentials.ts';
import {
  parseObject,
  prepareFolder,
  readLoginFile,
  refuseOpen,
  versionOf,
  writeLoginFile,
} from './login-file.ts';
import { asSummary, summaryOf, type LoginSummary } from './summary.ts';

/**
 * The stored login to one server: in the keychain, with `auth/<hash>.keychain.json` in the state directory, which says
 * so and contains no secret; or, without a keychain, in the file `auth/<hash>.json`. If both files exist, the latter is
 * newer: it is deleted only after its content is in the keychain.
 */
export interface CredentialStore {
  /**
   * Runs the work while no other process holds the lock of this login, so that everything it reads is current. The
   * directory must exist, see `prepare`.
   */
  locked<T>(work: () => Promise<T> | T, options?: Pick<LockOptions, 'timeoutMs' | 'signal'>): Promise<T>;
  /**
   * What is stored now; undefined if there is nothing usable. Cheap while nothing changes. Rejects with AUTH_STORE if
   * the keychain with the login cannot be read.
   */
  read(): Promise<Credentials | undefined>;
  /** The login without its secrets. Does not query the keychain. */
  summary(): LoginSummary | undefined;
  /** Replaces what was stored. Rejects with AUTH_STORE if that is not possible. */
  write(credentials: Credentials): Promise<void>;
  /** Moves the login from its file to the keychain, if that is usable. Takes the lock. */
  takeOver(): Promise<void>;
  /** Deletes the login; false if there was none. Rejects with AUTH_STORE if it cannot be deleted from the keychain. */
  remove(): Promise<boolean>;
  /** Creates the directory, accessible only to its owner. Throws AUTH_STORE if that is not possible. */
  prepare(): void;
}

/** Another process may be waiting for a slow issuer. In milliseconds. */
const LOCK_TIMEOUT_MS = 60_000;
/** How long a keychain that could not be read is not queried again, in milliseconds: requests wait for it. */
const PAUSE_MS = 5000;

interface Known {
  readonly version: string;
  readonly credentials: Promise<Credentials | undefined>;
  /** When reading last failed. */
  failedAt?: number;
}

export function createStore(options: Omit<LoginOptions, 'oauth'>): CredentialStore {
  const { server, url, directory, keychain, log } = options;
  const folder = join(directory, 'auth');
  const key = keyOf(server, url);
  const file = join(folder, `${key}.json`);
  const record = join(folder, `${key}${RECORD}`);
  let known: Known | undefined;
  const warn = (message: string, of: string, reason?: string): void =>
    log.warn(message, { server, file: of, ...(reason === undefined ? {} : { reason }) });

  /** Reads a file. Throws if it cannot be read. */
  const load = <T extends { readonly key?: string | undefined }>(
    from: string,
    check: (value: JsonObject) => T | undefined,
  ): T | undefined => {
    const found = readLoginFile(from);
    if (found === undefined) return undefined;
    const value = parseObject(found.text);
    const content = value && check(value);
    if (content === undefined) {
      // Kept, since a person may want to look at it, but never in the place of the next one.
      fs.renameSync(from, `${from}.damaged-${Date.now()}`);
      warn('the stored login is damaged and was set aside; log in again', from);
      return undefined;
    }
    // Tokens are sent only to the server they were made for, whichever file they are found in.
    if (content.key === key) return content;
    warn('the stored login is for another server and is not used', from);
    return undefined;
  };
  /** What the files contain: the login, or its summary if the keychain has it. */
  const look = (): { readonly inFile?: Credentials; readonly inKeychain?: LoginSummary | undefined } => {
    let from = file;
    try {
      refuseOpen(directory, folder);
      const inFile = load(file, asCredentials);
      if (inFile !== undefined) return { inFile };
      from = record;
      return { inKeychain: load(record, asSummary) };
    } catch (error) {
      warn('the stored login cannot be read', from, messageOf(error));
      return {};
    }
  };

  /** A person with several state directories has one keychain. */
  const account = (): string => `login ${key} (${fs.realpathSync.native(folder)})`;
  const fromKeychain = async (): Promise<Credentials | undefined> => {
    const text = await askKeychain((asked) => asked.read(account()));
    const value = text === undefined ? undefined : parseObject(text);
    const credentials = value && asCredentials(value);
    if (credentials?.key === key) return credentials;
    warn('the stored login is not in the keychain any more; log in again', record);
    return undefined;
  };
  const askKeychain = async <T>(use: (asked: LoginKeychain) => Promise<T>): Promise<T> => {
    try {
      if (keychain === undefined) throw new Error(NOT_USED);
      return await use(keychain);
    } catch (cause) {
      throw new SwitchboardError('AUTH_STORE', `The keychain cannot be used: ${messageOf(cause)}.`, {
        hint: `Unlock it; or set SWITCHBOARD_SECRET_STORE=file and log in to ${JSON.stringify(server)} again.`,
        cause,
      });
    }
  };

  /** Returns why the login could not be moved to the keychain. */
  const toKeychain = async (credentials: Credentials): Promise<string | undefined> => {
    if (keychain === undefined) return NOT_USED;
    const why = await askKeychain((asked) => asked.write(account(), JSON.stringify(credentials)));
    if (why !== undefined) return why;
    // Tells other processes about the new login.
    writeLoginFile(record, summaryOf(credentials));
    fs.rmSync(file, { force: true });
    return undefined;
  };

  const read = (): Promise<Credentials | undefined> => {
    const version = [file, record].map((each) => versionOf(each) ?? '').join(' / ');
    const isOld = known?.failedAt !== undefined && performance.now() > known.failedAt + PAUSE_MS;
    if (known?.version !== version || isOld) {
      const { inFile, inKeychain } = look();
      const reading: Known = {
        // Reading may have changed the file's mode or its name.
        version: [file, record].map((each) => versionOf(each) ?? '').join(' / '),
        credentials: inKeychain ? fromKeychain() : Promise.resolve(inFile),
      };
      reading.credentials.catch(() => (reading.failedAt = performance.now()));
      known = reading;
    }
    return known.credentials;
  };

  const locked: CredentialStore['locked'] = async (work, limits) =>
    withLock(
      `login ${join(fs.realpathSync.native(folder), key)}`,
      () => {
        // Another process may have been killed after writing to the keychain and before writing the record.
        known = undefined;
        return work();
      },
      { what: `the login to ${server}`, timeoutMs: LOCK_TIMEOUT_MS, ...limits },
    );

  return {
    locked,
    prepare: () => prepareFolder(folder, directory),
    read,
    summary() {
      const { inFile, inKeychain } = look();
      return inFile === undefined ? inKeychain : summaryOf(inFile);
    },
    async write(credentials) {
      prepareFolder(folder, directory);
      const whole = { ...credentials, key, server };
      const toFile = (): void => writeLoginFile(file, whole);
      // A renewed refresh token exists nowhere else, and a keychain may be slow.
      process.once('exit', toFile);
      try {
        const why = await toKeychain(whole);
        if (why === undefined) return;
        if (keychain !== undefined)
          log.debug('the login is kept in a file, not in the keychain', { server, file, reason: why });
        toFile();
      } finally {
        process.off('exit', toFile);
      }
    },
    async takeOver() {
      // Asked before taking the lock, because others wait for that.
      if (versionOf(file) === undefined || (await keychain?.isUsable()) !== true) return;
      await locked(async () => {
        const credentials = await read();
        if (credentials !== undefined && versionOf(file) !== undefined)
          await toKeychain({ ...credentials, server });
      });
    },
    async remove() {
      const existed = [file, record].map((each) => versionOf(each) !== undefined);
      if (existed[1] === true) await askKeychain((asked) => asked.remove(account()));
      fs.rmSync(file, { force: true });
      fs.rmSync(record, { force: true });
      return existed.includes(true);
    },
  };
}

const NOT_USED = 'this program does not use it';

/** The file name ending for a login that is in the keychain. */
export const RECORD = '.keychain.json';

/** A login belongs to a server with this name and address; neither becomes part of a path. */
export function keyOf(server: string, url: string): string {
  return sha256(JSON.stringify([server, url])).slice(0, 32);
}
