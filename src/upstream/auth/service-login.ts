import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { messageOf } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import type { Login, NotRenewed, Renewed } from '../login.ts';
import { authorizationOf, endsWithin, tokenIn, type LoginOptions, type Tokens } from './credentials.ts';
import { discoveryContext, isSameIssuer, issuerMetadata, resourceMetadata } from './discovery.ts';
import { ProofKey, usesDpop } from './dpop.ts';
import { requestIdentityAssertion, type AssertionRequest } from './identity-assertion.ts';
import { asTokens } from './oauth.ts';
import { noToken, requestToken } from './token-request.ts';

/** A new token is requested when the old one expires within this time, in milliseconds. */
const MARGIN = 60_000;
/** How long nothing is requested after a failure, in milliseconds. */
const PAUSE = 2000;
/** How long requests wait for a token, in milliseconds. The token request itself continues. */
const TIMEOUT_MS = 5000;
/** Time limit for the whole login, in milliseconds. */
const WHOLE_MS = 30_000;

/**
 * The login of a service: it needs no person's consent, and requests a new token whenever one is needed. Tokens, and
 * the key they may be bound to, are kept in memory.
 */
export function createServiceLogin(options: LoginOptions): Login {
  const { server, log } = options;
  let tokens: Tokens | undefined;
  let key: ProofKey | undefined;
  let requesting: Promise<Renewed> | undefined;
  let failed: { readonly at: number; readonly reason: string } | undefined;

  const request = (challenge: string | undefined): Promise<Renewed> => {
    if (failed !== undefined && performance.now() < failed.at + PAUSE)
      return Promise.resolve({ kind: 'unavailable', reason: failed.reason });
    requesting ??= grantToken(options, challenge, key)
      .then(
        (granted): Renewed => {
          [tokens, key, failed] = [granted.tokens, granted.key, undefined];
          log.debug('got a token', { server });
          return renewedTo(granted.tokens);
        },
        (error: unknown): Renewed => {
          const reason = messageOf(error).replace(/\.$/, '');
          log.warn('could not get a token', { server, reason });
          failed = { at: performance.now(), reason };
          return { kind: 'unavailable', reason };
        },
      )
      .finally(() => (requesting = undefined));
    return withTimeout(requesting, TIMEOUT_MS, () => LATE, { ref: false });
  };

  return {
    async authorization() {
      if (tokens === undefined) return undefined;
      if (endsWithin(tokens, MARGIN)) await request(undefined);
      return endsWithin(tokens, 0) ? undefined : authorizationOf(tokens);
    },
    proof({ authorization, ...request }) {
      return Promise.resolve(key?.proof({ ...request, token: tokenIn(authorization) }));
    },
    renewed(refused, challenge) {
      const other = tokens;
      if (other !== undefined && authorizationOf(other) !== refused && !endsWithin(other, 0))
        return Promise.resolve(renewedTo(other));
      return request(challenge);
    },
  };
}

const LATE: NotRenewed = { kind: 'unavailable', reason: 'its issuer has not responded yet' };

function renewedTo(tokens: Tokens): Renewed {
  return { kind: 'renewed', authorization: authorizationOf(tokens) };
}

interface Granted {
  readonly tokens: Tokens;
  /** The key that the tokens are bound to. */
  readonly key: ProofKey | undefined;
}

/** `before`: the key of the earlier tokens. */
async function grantToken(
  options: LoginOptions,
  challenge: string | undefined,
  before: ProofKey | undefined,
): Promise<Granted> {
  const { oauth, server, url } = options;
  const signal = AbortSignal.timeout(WHOLE_MS);
  const around = discoveryContext(options, signal);
  const asked = challengeParams(challenge);
  const about = await resourceMetadata(around, asked.resourceMetadataUrl);
  const named = about?.authorization_servers ?? [new URL(url).origin];
  const issuer =
    oauth.issuer === undefined ? named[0] : named.find((each) => isSameIssuer(each, oauth.issuer ?? ''));
  // Otherwise a server that names another issuer would get our secret.
  if (issuer === undefined) throw noToken(server, `it does not name the issuer ${oauth.issuer}`);
  const metadata = await issuerMetadata(around, issuer);
  const scope = oauth.scope ?? asked.scope ?? about?.scopes_supported?.join(' ');
  const resource = about?.resource ?? url;
  const usesKey = usesDpop(oauth, { server, challenge, about, issuer, metadata });
  const key = before ?? (usesKey ? ProofKey.create() : undefined);
  const grant = await grantOf(options, { audience: metadata?.issuer ?? issuer, resource, scope }, signal);
  const form = { ...grant, scope, resource };
  const endpoint = new URL(metadata?.token_endpoint ?? new URL('/token', issuer));
  const methods = metadata?.token_endpoint_auth_methods_supported;
  const given = await requestToken(around, { issuer, endpoint, methods, client: oauth, form, key });
  return { tokens: asTokens(given as never, { scope, key, dpop: oauth.dpop }), key };
}

function challengeParams(challenge: string | undefined): ReturnType<typeof extractWWWAuthenticateParams> {
  const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
  return extractWWWAuthenticateParams(new Response(null, { status: 401, headers }));
}

async function grantOf(
  options: LoginOptions,
  wanted: AssertionRequest,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { grant, assertion } = options.oauth;
  if (grant === 'client_credentials') return { grant_type: grant };
  if (assertion === undefined) throw noToken(options.server, 'its "oauth" has no "assertion"');
  const exchanged =
    grant === 'token_exchange' ? await requestIdentityAssertion(options, wanted, signal) : assertion;
  return { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: exchanged };
}
