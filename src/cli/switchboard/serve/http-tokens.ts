import { lstatSync } from 'node:fs';
import type { AccessTokens } from '../../../app/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { sha256 } from '../../../shared/sha256.ts';
import { OWN_TOKEN, readTokens, type NamedToken } from '../token/token-file.ts';
import { TokenWatchers } from './token-watchers.ts';

/** The gateway's own token, and the named tokens, which are reloaded when their file changes. */
export class HttpTokens implements AccessTokens {
  current: AccessTokens['current'];
  readonly #own: string;
  readonly #file: string;
  readonly #log: Logger;
  readonly #watchers = new TokenWatchers(() => this.refresh());
  #version: string;

  /** Throws TOKEN_UNUSABLE if the file with the named tokens cannot be trusted. */
  constructor(own: string, file: string, log: Logger) {
    this.#own = sha256(own);
    this.#file = file;
    this.#log = log;
    this.#version = versionOf(file);
    this.current = this.#withNamed(readTokens(file));
  }

  refresh(): void {
    const version = versionOf(this.#file);
    if (version === this.#version) return;
    this.#version = version;
    this.current = this.#withNamed(this.#read());
    this.#watchers.notify();
  }

  watch(changed: () => void): () => void {
    return this.#watchers.add(changed);
  }

  /** A file that cannot be trusted lets nobody in. */
  #read(): readonly NamedToken[] {
    try {
      return readTokens(this.#file);
    } catch (error) {
      this.#log.error('the named tokens are refused', { reason: messageOf(error) });
      return [];
    }
  }

  #withNamed(named: readonly NamedToken[]): AccessTokens['current'] {
    return accessTokens(this.#own, named);
  }
}

/**
 * The gateway's own token, by its hash, and the named ones. A token that is recreated under an old name is another
 * principal.
 */
export function accessTokens(own: string, named: readonly NamedToken[]): AccessTokens['current'] {
  const all = [{ name: OWN_TOKEN, sha256: own }, ...named];
  return all.map(({ name, sha256: hash }) => ({ name, hash: Buffer.from(hash, 'hex'), principal: hash }));
}

/** Identifies a version of the file: every write creates a new file. */
function versionOf(file: string): string {
  try {
    const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    return found ? [found.ino, found.mtimeNs, found.ctimeNs, found.size].join(' ') : 'none';
  } catch {
    return 'out of reach';
  }
}
