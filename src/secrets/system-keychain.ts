import { messageOf } from '../shared/errors.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { chosenStore, STORE_VARIABLE } from './chosen-store.ts';
import { KeychainError, openKeychain, type Keychain } from './keychain.ts';

/** Other gateways wait for a login while it is being written, in milliseconds. */
const WRITE_MS = 10_000;

/** The keychain as storage for logins. The keychain library is loaded on first use. Errors never contain a value. */
export class SystemKeychain implements Pick<Keychain, 'read' | 'remove'> {
  readonly #env: Readonly<Record<string, string | undefined>>;
  #keychain: Promise<Keychain> | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  /** Whether a login can be moved there now. */
  async isUsable(): Promise<boolean> {
    if (chosenStore(this.#env) === 'file') return false;
    return this.read('(is it there?)').then(
      () => true,
      () => false,
    );
  }

  async read(account: string): Promise<string | undefined> {
    return (await this.#open()).read(account);
  }

  /**
   * Returns why the value must be stored in a file; undefined if it is in the keychain now. Rejects if the user allows
   * only the keychain.
   */
  async write(account: string, value: string): Promise<string | undefined> {
    const wanted = chosenStore(this.#env);
    if (wanted === 'file') return `${STORE_VARIABLE} is "file"`;
    try {
      const keychain = await this.#open();
      await withTimeout(keychain.write(account, value), WRITE_MS, () => {
        throw new KeychainError(`it did not answer within ${WRITE_MS / 1000} seconds`, { silent: true });
      });
      return undefined;
    } catch (error) {
      if (wanted === 'keychain') throw error;
      return messageOf(error);
    }
  }

  async remove(account: string): Promise<void> {
    await (await this.#open()).remove(account);
  }

  #open(): Promise<Keychain> {
    return (this.#keychain ??= openKeychain());
  }
}
