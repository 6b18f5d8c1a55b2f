import type { BinaryLike } from 'node:crypto';
import { loadCrypto } from './load-crypto.ts';
import { Turns } from './turns.ts';

/** SHA-256, in hexadecimal. */
export function sha256(content: BinaryLike): string {
  return loadCrypto().createHash('sha256').update(content).digest('hex');
}

/** How much is hashed before the time is checked, in bytes. */
const STEP_BYTES = 256 * 1024;

/** The same for bytes in pieces. Lets other work run now and then if they are long. */
export async function sha256InTurns(pieces: readonly Uint8Array[]): Promise<string> {
  const hash = loadCrypto().createHash('sha256');
  const turns = new Turns();
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += STEP_BYTES) {
      hash.update(piece.subarray(at, at + STEP_BYTES));
      const turn = turns.next();
      if (turn !== undefined) await turn;
    }
  return hash.digest('hex');
}
