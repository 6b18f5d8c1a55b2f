import type { StoredSecret } from '../../../secrets/index.ts';
import { printableLine } from '../../../shared/printable.ts';

/** Where a secret is stored, for people. */
export function placeText(store: StoredSecret['store'], file: string): string {
  return store === 'keychain' ? "the system's keychain" : `${printableLine(file)}, which only you can read`;
}
