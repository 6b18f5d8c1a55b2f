import type * as keyring from '@napi-rs/keyring';
import { messageOf } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import { withTimeout } from '../shared/with-timeout.ts';

/** The name of our entries in the keychain. */
const SERVICE = 'switchboard';
/** The user may have to unlock the keychain first. In milliseconds. */
const WRITE_MS = 60_000;
/** A host is waiting meanwhile. In milliseconds. */
const READ_MS = 15_000;

/** The keychain of the system: macOS Keychain, Windows Credential Manager, or the Secret Service (GNOME, KDE) on Linux. */
export interface Keychain {
  /** Undefined if there is no such secret. */
  read(account: string): Promise<string | undefined>;
  write(account: string, value: string): Promise<void>;
  remove(account: string): Promise<void>;
}

/** The keychain cannot be used. The message is the end of a sentence that says why, and never contains a secret. */
export class KeychainError extends Error {
  /** Whether the keychain did not answer in time, so that the operation may still be carried out. */
  readonly silent: boolean;

  constructor(why: string, { silent = false, cause }: { silent?: boolean; cause?: unknown } = {}) {
    super(why, { cause });
    this.silent = silent;
  }
}

/** Loads the keychain library. Throws a KeychainError if it is not available. */
export async function openKeychain(): Promise<Keychain> {
  const { AsyncEntry: Entry } = await loadLibrary();
  // Not the keyring of the Linux kernel, which is emptied when the user logs out.
  const entryOf = (account: string): keyring.AsyncEntry =>
    withSessionBus(() => new Entry(SERVICE, account, { linux: { store: 'secret-service' } }));
  // An unanswered request blocks one of Node's four threads, so the next one starts only when it is done.
  let turn: Promise<unknown> = Promise.resolve();
  const ask = <T>(ms: number, act: () => Promise<T>): Promise<T> => {
    const done = turn.then(act);
    turn = done.catch(() => undefined);
    return answered(done, ms);
  };
  return {
    read: (account) => ask(READ_MS, async () => (await entryOf(account).getPassword()) ?? undefined),
    write: (account, value) => ask(WRITE_MS, () => entryOf(account).setPassword(value)),
    remove: (account) => ask(WRITE_MS, () => entryOf(account).deleteCredential()).then(() => undefined),
  };
}

/**
 * Runs the work with the address of this user's session bus in the environment, because hosts start gateways with
 * little more than PATH and HOME. Servers do not inherit what the host has kept from us.
 */
function withSessionBus<T>(work: () => T): T {
  const { env } = process;
  const uid = process.getuid?.();
  if (process.platform !== 'linux' || uid === undefined) return work();
  if (env[BUS_VARIABLE] !== undefined || env.XDG_RUNTIME_DIR !== undefined) return work();
  env.XDG_RUNTIME_DIR = `/run/user/${uid}`;
  try {
    return work();
  } finally {
    delete env.XDG_RUNTIME_DIR;
  }
}

const BUS_VARIABLE = 'DBUS_SESSION_BUS_ADDRESS';

async function loadLibrary(): Promise<typeof keyring> {
  try {
    return await import('@napi-rs/keyring');
  } catch (cause) {
    throw new KeychainError('the optional package @napi-rs/keyring is not installed', { cause });
  }
}

async function answered<T>(answer: Promise<T>, ms: number): Promise<T> {
  try {
    return await withTimeout(answer, ms, () => {
      throw silentFor(`within ${ms / 1000} seconds`);
    });
  } catch (cause) {
    if (cause instanceof KeychainError) throw cause;
    // The library has its own time limit.
    if (messageOf(cause).includes('Did not receive a reply')) throw silentFor('in time', cause);
    throw new KeychainError(reasonOf(cause), { cause });
  }
}

function silentFor(howLong: string, cause?: unknown): KeychainError {
  const why = `it did not answer ${howLong}; it may be waiting to be unlocked`;
  return new KeychainError(why, { silent: true, cause });
}

function reasonOf(error: unknown): string {
  const said = messageOf(error);
  // The library's message for a session without a desktop is meant for its developers.
  if (said.includes(BUS_VARIABLE)) return 'there is no desktop session (D-Bus)';
  return printableLine(said).slice(0, LONGEST_REASON).replace(/\.$/, '');
}

const LONGEST_REASON = 200;
