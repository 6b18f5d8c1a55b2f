import type { Listing } from '../gateway/index.ts';
import { loadCrypto } from '../shared/load-crypto.ts';

/** Identifies a list, to detect whether it is the one that was compared last. */
export function listDigest({ components }: Listing): string {
  const hash = loadCrypto().createHash('sha256');
  for (const { text } of components) hash.update(text).update('\n');
  return hash.digest('hex');
}
