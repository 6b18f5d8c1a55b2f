import { isDeepStrictEqual } from 'node:util';
import type { AccessTokens } from '../../../app/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { sha256 } from '../../../shared/sha256.ts';
import type { Store } from '../../../store/index.ts';
import type { NamedToken } from '../token/token-file.ts';
import { readSharedTokens, restoreSharedTokens } from '../token/token-storage.ts';
import { accessTokens } from './http-tokens.ts';
import { TokenWatchers } from './token-watchers.ts';

/**
 * The gateway's own token, and the named tokens in the store, which are valid on every replica. While the store is
 * away, the last known tokens stay valid: nobody can revoke one meanwhile.
 */
export class SharedTokens implements AccessTokens {
  current: AccessTokens['current'];
  readonly #own: string;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #watchers = new TokenWatchers(() => this.refresh());
  #named: readonly NamedToken[] = [];
  #reading = false;
  #failing = false;

  private constructor(own: string, store: Store, log: Logger) {
    this.#own = sha256(own);
    this.#store = store;
    this.#log = log;
    this.current = accessTokens(this.#own, []);
  }

  static async open(own: string, store: Store, log: Logger): Promise<SharedTokens> {
    const tokens = new SharedTokens(own, store, log);
    await tokens.#read();
    return tokens;
  }

  /** Until the store has answered, a request with a newly created token is refused. */
  refresh(): void {
    if (this.#reading) return;
    this.#reading = true;
    void this.#read().finally(() => (this.#reading = false));
  }

  watch(changed: () => void): () => void {
    return this.#watchers.add(changed);
  }

  async #read(): Promise<void> {
    try {
      const named = await readSharedTokens(this.#store);
      this.#failing = false;
      if (named === undefined) {
        // No command removes the list, so the store must have lost it.
        if (this.#named.length > 0) await restoreSharedTokens(this.#store, this.#named);
        return;
      }
      if (isDeepStrictEqual(named, this.#named)) return;
      this.#named = named;
      this.current = accessTokens(this.#own, named);
      this.#watchers.notify();
    } catch (error) {
      if (!this.#failing) this.#log.warn('the named tokens stay as they were', { reason: messageOf(error) });
      this.#failing = true;
    }
  }
}
