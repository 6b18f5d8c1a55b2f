import type { BinaryLike } from 'node:crypto';
import { loadCrypto } from './load-crypto.ts';

/** SHA-256, in hexadecimal. */
export function sha256(content: BinaryLike): string {
  return loadCrypto().createHash('sha256').update(content).digest('hex');
}
