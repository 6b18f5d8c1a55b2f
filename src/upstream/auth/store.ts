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
 * What is kept of the login to one server: in the keychain, with `auth/<hash>.keychain.json` in the state directory,
 * which says so and holds no secret; or, where there is no keychain, in the file `auth/<hash>.json`. If there are both,
 * the latter is the newer one: it goes only after its content is in the keychain.
 */
export interface CredentialStore {
  /**
   * Runs the work while no other process has the lock of this login; what it reads is as it is then. The directory must
   * exist, see `prepare`.
   */
  locked<T>(work: () => Promise<T> | T, options?: Pick<LockOptions, 'timeoutMs' | 'signal'>): Promise<T>;
  /**
   * What is stored now; undefined where there is nothing that can be used. Cheap while it stays the same. Rejects with
   * AUTH_STORE where the keychain that has it cannot be read.
   */
  read(): Promise<Credentials | undefined>;
  /** The same without its secrets, and without asking the keychain. */
  summary(): LoginSummary | undefined;
  /** In the place of what was there. Rejects with AUTH_STORE where that cannot be. */
  write(credentials: Credentials): Promise<void>;
  /** Moves the login from its file to the keychain, if that can be used; under the lock. */
  takeOver(): Promise<void>;
  /** Deletes it; false where there was none. Rejects with AUTH_STORE where the keychain keeps it. */
  remove(): Promise<boolean>;
  /** Makes the directory, for its owner only. Throws AUTH_STORE where that cannot be. */
  prepare(): void;
}

/** An issuer may take a while to respond to another process. In milliseconds. */
const LOCK_TIMEOUT_MS = 60_000;
/** A keychain that could not be read is not asked again before, in milliseconds: requests wait for it. */
const PAUSE_MS = 5000;

interface Known {
  readonly version: string;
  readonly credentials: Promise<Credentials | undefined>;
  /** When reading it failed. */
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

  /** What a file says; throws where it cannot be read. */
  const load = <T extends { readonly key?: string | undefined }>(
    from: string,
    check: (value: JsonObject) => T | undefined,
  ): T | undefined => {
    const found = readLoginFile(from);
    if (found === undefined) return undefined;
    const value = parseObject(found.text);
    const content = value && check(value);
    if (content === undefined) {
      // Kept, since a person may want to look at it; never where the next one would be written.
      fs.renameSync(from, `${from}.damaged-${Date.now()}`);
      warn('the stored login is damaged and was set aside; log in again', from);
      return undefined;
    }
    // Tokens go to the server they were made for, whatever file they are found in.
    if (content.key === key) return content;
    warn('the stored login is for another server and is not used', from);
    return undefined;
  };
  /** What the files say: the login, or what it is where the keychain has it. */
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

  /** Returns why it is not in the keychain now. */
  const toKeychain = async (credentials: Credentials): Promise<string | undefined> => {
    if (keychain === undefined) return NOT_USED;
    const why = await askKeychain((asked) => asked.write(account(), JSON.stringify(credentials)));
    if (why !== undefined) return why;
    // Tells other processes that there is something new.
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
        // Reading may have changed it: its mode, or its place.
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
        // Another process may have been killed before it could tell what it had put into the keychain.
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
      // A refresh token that was renewed exists only here, and a keychain may take its time.
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
      // Asked before the lock is taken, for which others wait.
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

/** How the file of a login ends that is in the keychain. */
export const RECORD = '.keychain.json';

/** A login belongs to a server under its name and address; neither becomes part of a path. */
export function keyOf(server: string, url: string): string {
  return sha256(JSON.stringify([server, url])).slice(0, 32);
}
