import { maskTokens, secretMask } from '../shared/secrets.ts';
import type { UpstreamServer } from './server.ts';

/** Hides a server's secrets, and anything that looks like a token, in a text. */
export function maskOf({ secrets }: UpstreamServer): (text: string) => string {
  const mask = secretMask(secrets?.() ?? []);
  return (text) => maskTokens(mask(text));
}
