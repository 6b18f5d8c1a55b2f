import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { fetchJson, IssuerUnavailable, type BoundedFetch, type Issuer } from './issuer.ts';
import { Refresher } from './refresher.ts';

/** How long keys are used before they are fetched again, in milliseconds, so that a withdrawn key stops working. */
const FRESH_MS = 10 * 60_000;
/** More than any provider has at a time. */
const MAX_KEYS = 100;

/**
 * The keys with which an issuer's tokens are verified. A token with an unknown key makes us fetch them again, so that a
 * rotation is noticed at once; the number of fetches is bounded.
 */
export function issuerKeys(issuer: Issuer, jwksUri: URL | undefined, fetch: BoundedFetch): JWTVerifyGetKey {
  const load = async (): Promise<JWTVerifyGetKey> => {
    const url = jwksUri ?? (await issuer.metadata()).jwksUri;
    if (url === undefined) throw new IssuerUnavailable('its metadata has no jwks_uri');
    const document = await fetchJson(fetch, url);
    const keys: unknown = document.keys;
    if (!Array.isArray(keys) || keys.length > MAX_KEYS)
      throw new IssuerUnavailable(`${url.origin}${url.pathname} did not respond with a set of keys`);
    return createLocalJWKSet(document as unknown as JSONWebKeySet);
  };
  const sets = new Refresher({ load, freshMs: FRESH_MS });
  return async (header, token) => {
    const known = await sets.get();
    try {
      return await known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const newer = await sets.newerThan(known);
      if (newer === known) throw error;
      return newer(header, token);
    }
  };
}
