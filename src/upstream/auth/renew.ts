import { extractWWWAuthenticateParams, OAuthError, refreshAuthorization } from '@modelcontextprotocol/client';
import type { Credentials, LoginOptions, Tokens } from './credentials.ts';
import type { ProofKey } from './dpop.ts';
import { isSameIssuer, issuerMetadata, resourceMetadata, discoveryContext } from './discovery.ts';
import { asInformation, asTokens, reasonOf } from './oauth.ts';

export type Renewal =
  | { readonly kind: 'renewed'; readonly tokens: Tokens }
  /** The issuer requires a new login by the person; if `clientToo`, it no longer knows our client either. */
  | { readonly kind: 'over'; readonly clientToo: boolean; readonly reason: string }
  /** The server has changed to another issuer, which did not issue these tokens. */
  | { readonly kind: 'moved' }
  /** The outcome is unknown; it may work later. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Time limit for the whole renewal, in milliseconds: others wait for it. */
const TIMEOUT_MS = 45_000;

/** Requests new tokens with the refresh token of the old ones and the key they are bound to. Never rejects. */
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

/** The metadata URL that a server gave when it refused the request. */
function metadataIn(challenge: string | undefined): URL | undefined {
  if (challenge === undefined) return undefined;
  const answer = new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
  return extractWWWAuthenticateParams(answer).resourceMetadataUrl;
}
