import { extractWWWAuthenticateParams, OAuthError, refreshAuthorization } from '@modelcontextprotocol/client';
import type { Credentials, LoginOptions, Tokens } from './credentials.ts';
import type { ProofKey } from './dpop.ts';
import { isSameIssuer, issuerMetadata, resourceMetadata, discoveryContext } from './discovery.ts';
import { asInformation, asTokens, reasonOf } from './oauth.ts';

export type Renewal =
  | { readonly kind: 'renewed'; readonly tokens: Tokens }
  /** The issuer wants to see the person again; where `clientToo`, it does not know us any more either. */
  | { readonly kind: 'over'; readonly clientToo: boolean; readonly reason: string }
  /** The server has changed to another issuer, which these tokens are none of. */
  | { readonly kind: 'moved' }
  /** Nothing is known: it may work later. */
  | { readonly kind: 'failed'; readonly reason: string };

/** All of it, in milliseconds: others wait for it. */
const TIMEOUT_MS = 45_000;

/** Asks the issuer for new tokens, with the refresh token of the old ones and the key they are bound to. Never rejects. */
export async function renew(
  options: LoginOptions,
  { issuer, endpoints, resource, client, tokens }: Credentials,
  key: ProofKey | undefined,
  challenge: string | undefined,
): Promise<Renewal> {
  if (tokens?.refresh === undefined || client === undefined)
    return { kind: 'failed', reason: 'there is no refresh token' };
  const around = discoveryContext(options, AbortSignal.timeout(TIMEOUT_MS));
  try {
    const about = await resourceMetadata(around, metadataIn(challenge));
    const issuers = about?.authorization_servers ?? [];
    if (issuers.length > 0 && !issuers.some((each) => isSameIssuer(each, issuer))) return { kind: 'moved' };
    const metadata = await issuerMetadata(around, issuer);
    if (metadata === undefined && endpoints === 'told')
      return { kind: 'failed', reason: 'the issuer no longer publishes its endpoints' };
    const given = await refreshAuthorization(issuer, {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation: asInformation(client, options.oauth),
      refreshToken: tokens.refresh,
      resource,
      fetchFn: key === undefined ? around.fetch : key.fetch(around.fetch),
    });
    const { dpop } = options.oauth;
    return { kind: 'renewed', tokens: asTokens(given, { scope: tokens.scope, key, dpop }) };
  } catch (error) {
    const reason = reasonOf(error);
    const code = error instanceof OAuthError ? error.code : undefined;
    if (code === 'invalid_grant') return { kind: 'over', clientToo: false, reason };
    if (code === 'invalid_client' || code === 'unauthorized_client')
      return { kind: 'over', clientToo: client.kind === 'registered', reason };
    return { kind: 'failed', reason };
  }
}

/** Where a server that has just refused us describes its logins. */
function metadataIn(challenge: string | undefined): URL | undefined {
  if (challenge === undefined) return undefined;
  const answer = new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
  return extractWWWAuthenticateParams(answer).resourceMetadataUrl;
}
