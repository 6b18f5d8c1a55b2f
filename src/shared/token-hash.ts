import { createHash } from 'node:crypto';

/** What is kept of a token. Tokens are long random texts, so that a fast hash protects them. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
