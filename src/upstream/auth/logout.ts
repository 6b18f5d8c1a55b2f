import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import type { Credentials, LoginOptions } from './credentials.ts';
import { issuerMetadata, discoveryContext } from './discovery.ts';
import { asInformation, reasonOf } from './oauth.ts';
import { createStore } from './store.ts';

export interface LoggedOut {
  /** Whether there was anything stored. */
  readonly removed: boolean;
  /** Whether the issuer revoked the tokens, so that copies of them are worthless. */
  readonly revoked: boolean;
  /** Why the tokens were not revoked, if there were any. */
  readonly reason?: string | undefined;
}

/** Time limit for revoking at the issuer, in milliseconds. What is stored here is deleted in any case. */
const TIMEOUT_MS = 20_000;

/** Deletes the login to a server, and revokes it at its issuer if that is supported. */
export async function logout(options: LoginOptions, signal: AbortSignal): Promise<LoggedOut> {
  const store = createStore(options);
  const stored = await store.read();
  if (stored === undefined) return { removed: await store.remove(), revoked: false };
  return store.locked(
    async () => {
      // Another process may have renewed the token in the meantime.
      const latest = (await store.read()) ?? stored;
      const reason = await revoke(options, latest, AbortSignal.timeout(TIMEOUT_MS));
      const hadTokens = latest.tokens !== undefined;
      return { removed: await store.remove(), revoked: hadTokens && reason === undefined, reason };
    },
    { signal },
  );
}

/** Returns undefined if the issuer has revoked the token, otherwise why not. */
async function revoke(
  options: LoginOptions,
  { issuer, client, tokens }: Credentials,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (tokens === undefined || client === undefined) return undefined;
  try {
    const around = discoveryContext(options, signal);
    const metadata = (await issuerMetadata(around, issuer)) as Revoking | undefined;
    const endpoint = metadata?.revocation_endpoint;
    if (endpoint === undefined) return 'it does not support token revocation';
    const information = asInformation(client, options.oauth);
    const supported = metadata?.revocation_endpoint_auth_methods_supported ?? [];
    const method = selectClientAuthMethod(information, [...supported]);
    const { client_id: id, client_secret: secret = '' } = information;
    const basic = Buffer.from(`${id}:${secret}`).toString('base64');
    const all = [
      ['refresh_token', tokens.refresh],
      ['access_token', tokens.access],
    ] as const;
    for (const [hint, token] of all) {
      if (token === undefined) continue;
      const form = new URLSearchParams({ token, token_type_hint: hint });
      if (method !== 'client_secret_basic') form.set('client_id', id);
      if (method === 'client_secret_post') form.set('client_secret', secret);
      const answer = await around.fetch(endpoint, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(method === 'client_secret_basic' ? { authorization: `Basic ${basic}` } : {}),
        },
        body: form,
      });
      if (!answer.ok) return `it responded with status ${answer.status}`;
    }
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

interface Revoking {
  readonly revocation_endpoint?: string;
  readonly revocation_endpoint_auth_methods_supported?: readonly string[];
}
