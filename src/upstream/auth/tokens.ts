import { SwitchboardError } from '../../shared/errors.ts';
import { isToken, type Tokens } from './credentials.ts';
import type { OAuthTokens } from './oauth.ts';

/** A hundred years, in seconds. A longer lifetime, or one that is not positive, counts as no expiry given. */
const LONGEST = 100 * 365 * 24 * 3600;

/** What an issuer gave, as it is kept; throws for what cannot be sent as a bearer token. */
export function asTokens(given: OAuthTokens, asked: string | undefined): Tokens {
  const { access_token: access, refresh_token: refresh, expires_in: seconds, scope = asked } = given;
  const usable =
    /^bearer$/i.test(given.token_type) && isToken(access) && (refresh === undefined || isToken(refresh));
  if (!usable) throw new SwitchboardError('AUTH_FAILED', 'The issuer returned an unsupported type of token.');
  return {
    access,
    refresh,
    expiresAt:
      seconds !== undefined && seconds > 0 && seconds <= LONGEST ? Date.now() + seconds * 1000 : undefined,
    scope,
  };
}
