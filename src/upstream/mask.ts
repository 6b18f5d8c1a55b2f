import { maskTokens, secretMask } from '../shared/secrets.ts';
import type { UpstreamServer } from './server.ts';

/** Hides a server's secrets, and anything that looks like a token, in a text. */
export function maskOf({ secrets }: UpstreamServer): (text: string) => string {
  // Most servers never write anything that is shown, and there are many forms of a secret.
  let mask: ((text: string) => string) | undefined;
  return (text) => maskTokens((mask ??= secretMask(secrets?.() ?? []))(text));
}
