import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { withFileLock } from '../shared/file-lock.ts';
import { isObject } from '../shared/is-object.ts';
import { readPrivateFile } from '../shared/private-file.ts';
import { writeFileAtomic } from '../shared/write-file.ts';
import { chosenStore, STORE_VARIABLE } from './chosen-store.ts';
import { KeychainError, openKeychain, type Keychain } from './keychain.ts';
import { secretsFile } from './secrets-file.ts';
import { Secrets } from './secrets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the value of a secret is stored. */
type Place = 'keychain' | 'file';

/** A secret without its value. */
export interface StoredSecret {
  readonly name: string;
  readonly store: Place;
  /** ISO date. */
  readonly changedAt: string;
}

/** Where the value of a secret will be stored, and if not in the keychain, why. */
interface ChosenPlace {
  readonly store: Place;
  readonly why?: string;
}

interface SecretRecord {
  readonly changedAt: string;
  /** Default: the value is in the keychain. */
  readonly value?: string;
}

type SecretRecords = ReadonlyMap<string, SecretRecord>;

/**
 * The secrets of a user. `secrets.json` in the configuration directory, readable by its owner only, contains the name
 * of each secret, and the values of those that are not in the system's keychain.
 */
export class SecretStore {
  readonly file: string;
  readonly #env: Environment;
  #keychain: Promise<Keychain> | undefined;

  constructor(env: Environment) {
    this.#env = env;
    this.file = secretsFile(env);
  }

  /** Sorted by name. */
  list(): readonly StoredSecret[] {
    return [...this.#read()]
      .map(([name, { value, changedAt }]) => ({ name, store: placeOf(value), changedAt }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The values of these secrets. Those that cannot be read are part of the result, with the reason. */
  async values(names: readonly string[]): Promise<Secrets> {
    let records: SecretRecords;
    try {
      records = this.#read();
    } catch (error) {
      const why = messageOf(error);
      return new Secrets(new Map(names.map((name) => [name, { kind: 'unreadable', why }])));
    }
    const found = new Map<string, ReturnType<Secrets['get']>>();
    let silent: string | undefined;
    // One after the other: each may block a thread until the keychain answers.
    for (const name of names) {
      const record = records.get(name);
      if (record === undefined) continue;
      if (record.value !== undefined) found.set(name, { kind: 'set', value: record.value });
      else if (silent !== undefined) found.set(name, { kind: 'unreadable', why: silent });
      else {
        const state = await this.#fromKeychain(name);
        found.set(name, state);
        if (state.kind === 'unreadable') silent = state.why;
      }
    }
    return new Secrets(found);
  }

  /** Where the next secret will be stored; asks the keychain whether it can be used. */
  async place(): Promise<ChosenPlace> {
    return this.#inKeychain((keychain) => keychain.read('(is it there?)'));
  }

  /** Throws SECRET_STORE, without the value, if it cannot be stored. */
  async set(name: string, value: string, signal: AbortSignal): Promise<ChosenPlace> {
    this.#read();
    const place = await this.#inKeychain((keychain) => keychain.write(this.#account(name), value));
    await this.#change(
      (records) =>
        records.set(name, {
          changedAt: new Date().toISOString(),
          ...(place.store === 'file' ? { value } : {}),
        }),
      signal,
    );
    return place;
  }

  /** Returns false if there is no such secret. */
  async remove(name: string, signal: AbortSignal): Promise<boolean> {
    const record = this.#read().get(name);
    if (record === undefined) return false;
    if (record.value === undefined) {
      try {
        await (await this.#open()).remove(this.#account(name));
      } catch (error) {
        throw this.#problem(`The secret cannot be removed from the keychain: ${messageOf(error)}.`, error);
      }
    }
    await this.#change((records) => records.delete(name), signal);
    return true;
  }

  async #inKeychain(use: (keychain: Keychain) => Promise<unknown>): Promise<ChosenPlace> {
    const wanted = chosenStore(this.#env);
    if (wanted === 'file') return { store: 'file', why: `${STORE_VARIABLE} is "file"` };
    try {
      await use(await this.#open());
      return { store: 'keychain' };
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      if (wanted === 'keychain' || error.silent)
        throw this.#problem(`The keychain cannot be used: ${error.message}.`, error);
      return { store: 'file', why: error.message };
    }
  }

  async #fromKeychain(name: string): Promise<ReturnType<Secrets['get']>> {
    try {
      const value = await (await this.#open()).read(this.#account(name));
      return value === undefined ? { kind: 'unset' } : { kind: 'set', value };
    } catch (error) {
      return { kind: 'unreadable', why: `the keychain cannot be used: ${messageOf(error)}` };
    }
  }

  #open(): Promise<Keychain> {
    return (this.#keychain ??= openKeychain());
  }

  /** A user with several configuration directories has only one keychain. */
  #account(name: string): string {
    return `${name} (${dirname(this.file)})`;
  }

  #read(): SecretRecords {
    const problem = (why: string, hint?: string): SwitchboardError =>
      new SwitchboardError('SECRET_STORE', `The secrets in ${this.file} cannot be used: ${why}.`, { hint });
    const text = readPrivateFile(this.file, problem);
    if (text === undefined) return new Map();
    const records = parse(text);
    if (records === undefined)
      throw problem(
        'the file is damaged',
        'Move it away and set the secrets again with `switchboard secret set NAME`.',
      );
    return records;
  }

  async #change(change: (records: Map<string, SecretRecord>) => void, signal: AbortSignal): Promise<void> {
    const attempt = <T>(write: () => T): T => {
      try {
        return write();
      } catch (error) {
        throw this.#problem(`The secret cannot be saved in ${this.file}: ${messageOf(error)}.`, error);
      }
    };
    attempt(() => mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 }));
    await withFileLock(
      this.file,
      () => {
        const records = new Map(this.#read());
        change(records);
        const text = `${JSON.stringify({ version: VERSION, secrets: [...records] }, null, 2)}\n`;
        attempt(() => writeFileAtomic(this.file, text, { flush: 'name' }));
      },
      { signal },
    );
  }

  #problem(message: string, cause: unknown): SwitchboardError {
    return new SwitchboardError('SECRET_STORE', message, {
      hint: `Unlock the keychain or free the file, or set ${STORE_VARIABLE}=file to keep secrets in a file.`,
      cause,
    });
  }
}

const VERSION = 1;
/** Maximum size of a value, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Why a secret cannot have this name, as a sentence; undefined if it can. */
export function secretNameProblem(name: string): string | undefined {
  if (/^[A-Za-z_][\w.-]{0,127}$/.test(name)) return undefined;
  return 'The name of a secret has up to 128 letters, digits, "_", "-" and ".", and begins with a letter or "_".';
}

/** Why this cannot be a secret, as a sentence that does not contain it; undefined if it can. */
export function secretValueProblem(value: string): string | undefined {
  if (value === '') return 'The value is empty.';
  if (value.includes('\0'))
    return 'The value contains a NUL character, which no variable or header can hold.';
  if (Buffer.byteLength(value) > MAX_BYTES) return `The value is longer than ${MAX_BYTES / 1024} kB.`;
  return undefined;
}

function placeOf(value: string | undefined): Place {
  return value === undefined ? 'keychain' : 'file';
}

/** Undefined for anything that we did not write. */
function parse(text: string): SecretRecords | undefined {
  try {
    const { version, secrets } = JSON.parse(text) as { version?: unknown; secrets?: unknown };
    return version === VERSION && Array.isArray(secrets) && secrets.every(isRecord)
      ? new Map(secrets)
      : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(entry: unknown): entry is [string, SecretRecord] {
  if (!Array.isArray(entry)) return false;
  const [name, record] = entry as unknown[];
  if (typeof name !== 'string' || !isObject(record)) return false;
  const { changedAt, value } = record;
  return typeof changedAt === 'string' && (value === undefined || typeof value === 'string');
}
