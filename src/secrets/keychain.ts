import type * as keyring from '@napi-rs/keyring';
import { messageOf } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import { withTimeout } from '../shared/with-timeout.ts';

/** What others find our secrets under in the keychain. */
const SERVICE = 'switchboard';
/** A person may have to unlock it. In milliseconds. */
const WRITE_MS = 60_000;
/** A host waits meanwhile. In milliseconds. */
const READ_MS = 15_000;

/** The keychain of the system: macOS Keychain, Windows Credential Manager, or the Secret Service (GNOME, KDE) on Linux. */
export interface Keychain {
  /** Undefined where there is no such secret. */
  read(account: string): Promise<string | undefined>;
  write(account: string, value: string): Promise<void>;
  remove(account: string): Promise<void>;
}

/** The keychain cannot be used, and why, as the end of a sentence. Never holds a secret. */
export class KeychainError extends Error {
  /** Whether it did not answer in time: what it was asked to do may still be done. */
  readonly silent: boolean;

  constructor(why: string, { silent = false, cause }: { silent?: boolean; cause?: unknown } = {}) {
    super(why, { cause });
    this.silent = silent;
  }
}

/** Loads what speaks to the keychain. Throws a KeychainError where that is not there. */
export async function openKeychain(): Promise<Keychain> {
  const { AsyncEntry: Entry } = await loadLibrary();
  // Not the keyring of the Linux kernel, which forgets when its person logs out.
  const entryOf = (account: string): keyring.AsyncEntry =>
    withSessionBus(() => new Entry(SERVICE, account, { linux: { store: 'secret-service' } }));
  // Each request that is not answered blocks a thread, and there are four: the others wait without one.
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
 * Runs the work with the place of this user's session bus in the environment: hosts start gateways with little more than
 * PATH and HOME. The servers do not get what the host has kept from us.
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
    // The library has a time limit of its own.
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
  // What the library says of a session without a desktop is for its developers.
  if (said.includes(BUS_VARIABLE)) return 'there is no desktop session (D-Bus)';
  return printableLine(said).slice(0, LONGEST_REASON).replace(/\.$/, '');
}

const LONGEST_REASON = 200;
