import type * as crypto from 'node:crypto';
import { createRequire } from 'node:module';

let loaded: typeof crypto | undefined;

/**
 * node:crypto, loaded with the first use: most starts hash nothing, and loading it takes 3 of the 44 ms of `switchyard
 * brief`. To find a module of Node, any path will do.
 */
export function loadCrypto(): typeof crypto {
  loaded ??= createRequire(process.execPath)('node:crypto') as typeof crypto;
  return loaded;
}
