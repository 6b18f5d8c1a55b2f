import type * as crypto from 'node:crypto';
import { createRequire } from 'node:module';

let loaded: typeof crypto | undefined;

/**
 * node:crypto, loaded on first use: most starts hash nothing, and loading it takes 3 of the 44 ms of `switchyard
 * brief`. The path does not matter for finding a built-in module.
 */
export function loadCrypto(): typeof crypto {
  loaded ??= createRequire(process.execPath)('node:crypto') as typeof crypto;
  return loaded;
}
