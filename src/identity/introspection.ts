import { TokenRejected, type AccessTokenRules, type Claims } from './access-token.ts';
import { fetchJson, IssuerUnavailable, type BoundedFetch, type Issuer } from './issuer.ts';

export interface IntrospectionSettings {
  /** The client as which this gateway authenticates to the issuer. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Default: as the issuer's metadata says. */
  readonly endpoint?: string | undefined;
  /** How long a response is used, in milliseconds. */
  readonly cacheMs: number;
}

export interface Introspection {
  readonly settings: IntrospectionSettings;
  readonly issuer: Issuer;
  readonly rules: Pick<AccessTokenRules, 'issuer' | 'audience' | 'clockTolerance'>;
  readonly fetch: BoundedFetch;
}

/** The issuer's response about a token (RFC 7662). Throws TokenRejected or IssuerUnavailable. */
export async function introspect(
  token: string,
  { settings, issuer, rules, fetch }: Introspection,
): Promise<Claims> {
  const { clientId, clientSecret, endpoint } = settings;
  const url = endpoint === undefined ? (await issuer.metadata()).introspectionEndpoint : new URL(endpoint);
  if (url === undefined) throw new IssuerUnavailable('its metadata has no introspection_endpoint');
  const credentials = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  const claims = await fetchJson(fetch, url, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
  });
  checkClaims(claims, rules);
  return claims;
}

/** Checks that the token is from this issuer, for us, and valid now. */
function checkClaims(
  { active, iss, aud, exp, nbf }: Claims,
  { issuer, audience, clockTolerance }: Introspection['rules'],
): void {
  if (active !== true) throw new TokenRejected('it is not active');
  if (iss !== undefined && iss !== issuer) throw new TokenRejected('it is from another issuer');
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.some((each) => typeof each === 'string' && audience.includes(each)))
    throw new TokenRejected('it is for another audience');
  const now = Date.now() / 1000;
  if (typeof exp === 'number' && exp + clockTolerance <= now) throw new TokenRejected('it has expired');
  if (typeof nbf === 'number' && nbf - clockTolerance > now) throw new TokenRejected('it is not valid yet');
}

/** Encoded as RFC 6749, section 2.3.1 requires. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
