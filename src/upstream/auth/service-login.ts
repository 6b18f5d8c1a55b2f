import { importPKCS8, SignJWT } from 'jose';
import { extractWWWAuthenticateParams, type OAuthTokens } from '@modelcontextprotocol/client';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import type { Login, NotRenewed, Renewed } from '../login.ts';
import {
  authorizationOf,
  endsWithin,
  tokenIn,
  type LoginOptions,
  type OAuthOptions,
  type Tokens,
} from './credentials.ts';
import { discoveryContext, isSameIssuer, issuerMetadata, resourceMetadata } from './discovery.ts';
import { ProofKey, usesDpop } from './dpop.ts';
import { asTokens, codeOf } from './oauth.ts';

/** A new token is requested when the old one has no more than this left, in milliseconds. */
const MARGIN = 60_000;
/** How long nothing is requested after a failure, in milliseconds. */
const PAUSE = 2000;
/** How long requests wait for a token, in milliseconds. The request for it goes on. */
const TIMEOUT_MS = 5000;
/** How long all of it may take, in milliseconds. */
const WHOLE_MS = 30_000;

/**
 * The login of a service: nobody has to agree, and a new token is requested whenever one is needed. Tokens are kept in
 * memory, and so is the key that they may be bound to.
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
    requesting ??= requestToken(options, challenge, key)
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
  /** The key that they are bound to. */
  readonly key: ProofKey | undefined;
}

/** `before`: the key of earlier tokens. */
async function requestToken(
  options: LoginOptions,
  challenge: string | undefined,
  before: ProofKey | undefined,
): Promise<Granted> {
  const { oauth, server, url } = options;
  const around = discoveryContext(options, AbortSignal.timeout(WHOLE_MS));
  const asked = challengeParams(challenge);
  const about = await resourceMetadata(around, asked.resourceMetadataUrl);
  const named = about?.authorization_servers ?? [new URL(url).origin];
  const issuer =
    oauth.issuer === undefined ? named[0] : named.find((each) => isSameIssuer(each, oauth.issuer ?? ''));
  // A server that names another issuer would get our secret otherwise.
  if (issuer === undefined) throw refused(server, `it does not name the issuer ${oauth.issuer}`);
  const metadata = await issuerMetadata(around, issuer);
  const scope = oauth.scope ?? asked.scope ?? about?.scopes_supported?.join(' ');
  const usesKey = usesDpop(oauth, { server, challenge, about, issuer, metadata });
  const key = before ?? (usesKey ? ProofKey.create() : undefined);
  const request = async (): Promise<RequestInit> => {
    const form = new URLSearchParams({
      ...grantOf(server, oauth),
      ...(scope === undefined || scope === '' ? {} : { scope }),
      resource: about?.resource ?? url,
    });
    const headers = await authenticate(form, { oauth, issuer, ...methodsOf(metadata) });
    return {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: form,
    };
  };
  const endpoint = new URL(metadata?.token_endpoint ?? new URL('/token', issuer));
  await around.guard.checkEndpoint(endpoint);
  // An issuer may accept an assertion only once, so a request that is sent again is made again.
  const response = await (key === undefined
    ? around.fetch(endpoint, await request())
    : key.send(around.fetch, endpoint, request));
  return { tokens: asTokens(await tokensIn(response, server), { scope, key, dpop: oauth.dpop }), key };
}

function challengeParams(challenge: string | undefined): ReturnType<typeof extractWWWAuthenticateParams> {
  const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
  return extractWWWAuthenticateParams(new Response(null, { status: 401, headers }));
}

function grantOf(server: string, { grant, assertion }: OAuthOptions): Record<string, string> {
  if (grant !== 'jwt_bearer') return { grant_type: 'client_credentials' };
  if (assertion === undefined) throw refused(server, 'its "oauth" has no "assertion"');
  return { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
}

function methodsOf(metadata: { token_endpoint_auth_methods_supported?: string[] | undefined } | undefined): {
  readonly methods: readonly string[];
} {
  return { methods: metadata?.token_endpoint_auth_methods_supported ?? [] };
}

/** Proves who we are, in the form or by the headers that it returns. */
async function authenticate(
  form: URLSearchParams,
  {
    oauth: { clientId, clientSecret, privateKey, keyAlgorithm = 'ES256', keyId },
    issuer,
    methods,
  }: { readonly oauth: OAuthOptions; readonly issuer: string; readonly methods: readonly string[] },
): Promise<Record<string, string>> {
  if (clientId === undefined) return {};
  if (privateKey !== undefined) {
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg: keyAlgorithm, ...(keyId === undefined ? {} : { kid: keyId }) })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(issuer)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(await importPKCS8(privateKey, keyAlgorithm));
    form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    form.set('client_assertion', assertion);
    form.set('client_id', clientId);
    return {};
  }
  const basic = methods.length === 0 || methods.includes('client_secret_basic');
  if (clientSecret !== undefined && basic) {
    const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':');
    return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  }
  form.set('client_id', clientId);
  if (clientSecret !== undefined) form.set('client_secret', clientSecret);
  return {};
}

async function tokensIn(response: Response, server: string): Promise<OAuthTokens> {
  const given = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.status === 200) return given as never;
  const code = typeof given.error === 'string' ? codeOf(given.error) : `status ${response.status}`;
  throw refused(server, `the issuer responded with ${code}`);
}

function refused(server: string, why: string): SwitchboardError {
  return new SwitchboardError('AUTH_FAILED', `No token for server ${JSON.stringify(server)}: ${why}.`, {
    hint: 'Check "oauth" in its entry.',
  });
}
