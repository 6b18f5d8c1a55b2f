// Connects the official SDK with what is stored. The SDK is large: only modules that are loaded on demand may import
// it.
import {
  IssuerMismatchError,
  OAuthError,
  type OAuthClientInformationMixed,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { SwitchboardError } from '../../shared/errors.ts';
import { printableLine } from '../../shared/printable.ts';
import type { ProofKey } from './dpop.ts';
import { isToken, type KnownClient, type OAuthOptions, type Tokens } from './credentials.ts';

/** A client in the form the SDK expects. */
export function asInformation(client: KnownClient, oauth: OAuthOptions): OAuthClientInformationMixed {
  const secret = client.kind === 'configured' ? oauth.clientSecret : client.secret;
  return {
    client_id: client.id,
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(client.authMethod === undefined ? {} : { token_endpoint_auth_method: client.authMethod }),
  };
}

export interface RequestedTokens {
  /** The scopes that were requested. Default: the issuer decided. */
  readonly scope: string | undefined;
  /** The key of the proof that was sent. Default: none. */
  readonly key: ProofKey | undefined;
  /** The configured value. */
  readonly dpop: OAuthOptions['dpop'];
}

/** An issuer's tokens in the form that is stored. Throws if they cannot be sent to the server. */
export function asTokens(given: OAuthTokens, { scope: asked, key, dpop }: RequestedTokens): Tokens {
  const { access_token: access, refresh_token: refresh, expires_in: seconds, scope = asked } = given;
  const bound = key !== undefined && /^dpop$/i.test(given.token_type);
  const known = bound || /^bearer$/i.test(given.token_type);
  if (!known || !isToken(access) || (refresh !== undefined && !isToken(refresh)))
    throw new SwitchboardError('AUTH_FAILED', 'The issuer returned an unsupported type of token.');
  if (!bound && dpop === 'required')
    throw new SwitchboardError('AUTH_FAILED', 'The issuer returned a token that is not bound to a key.', {
      hint: 'To allow such tokens, remove "dpop" from "oauth" in its entry.',
    });
  return {
    access,
    type: bound ? 'DPoP' : undefined,
    proofKey: key?.secret,
    refresh,
    expiresAt:
      seconds !== undefined && seconds > 0 && seconds <= LONGEST ? Date.now() + seconds * 1000 : undefined,
    scope,
  };
}

/** A hundred years, in seconds. A longer lifetime, or one that is not positive, counts as missing. */
const LONGEST = 100 * 365 * 24 * 3600;

/**
 * Describes briefly, without secrets, what went wrong with an issuer. Only the error code of its response is repeated,
 * since the rest may contain anything.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof SwitchboardError) return error.message.replace(/\.$/, '');
  if (error instanceof IssuerMismatchError) return 'the response comes from another issuer';
  const status = error instanceof Error ? /^HTTP (\d{3})/.exec(error.message)?.[1] : undefined;
  if (status !== undefined) return `it responded with status ${status}`;
  if (error instanceof OAuthError) return `it responded with ${codeOf(error.code)}`;
  return 'its response is invalid';
}

/** An error code in a form that may be shown, for example access_denied. */
export function codeOf(code: string): string {
  return printableLine(code).slice(0, 60);
}
