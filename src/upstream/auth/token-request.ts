import { importPKCS8, SignJWT } from 'jose';
import { SwitchboardError } from '../../shared/errors.ts';
import type { OAuthOptions } from './credentials.ts';
import type { DiscoveryContext } from './discovery.ts';
import type { ProofKey } from './dpop.ts';
import { codeOf } from './oauth.ts';

/** A token request that needs no person's consent. */
export interface GrantRequest {
  /** The issuer, by its own name. */
  readonly issuer: string;
  readonly endpoint: URL;
  /** The methods of client authentication that it supports. Default: those that every issuer must support. */
  readonly methods?: readonly string[] | undefined;
  /** Our client at the issuer, and how it authenticates. */
  readonly client: Pick<OAuthOptions, 'clientId' | 'clientSecret' | 'privateKey' | 'keyAlgorithm' | 'keyId'>;
  /** The parameters of the request. Undefined and empty ones are left out. */
  readonly form: Readonly<Record<string, string | undefined>>;
  /** The key that the token is to be bound to. Default: none. */
  readonly key?: ProofKey | undefined;
}

/** The issuer's response, unchecked. Throws AUTH_FAILED if it contains no token. */
export async function requestToken(
  { guard, fetch, server }: DiscoveryContext,
  { issuer, endpoint, methods = [], client, form, key }: GrantRequest,
): Promise<Record<string, unknown>> {
  await guard.checkEndpoint(endpoint);
  const request = async (): Promise<RequestInit> => {
    const body = new URLSearchParams();
    for (const [name, value = ''] of Object.entries(form)) if (value !== '') body.set(name, value);
    const headers = await authenticate(body, { client, issuer, methods });
    const type = 'application/x-www-form-urlencoded';
    return {
      method: 'POST',
      headers: { ...headers, 'content-type': type, accept: 'application/json' },
      body,
    };
  };
  // An issuer may accept an assertion only once, so a repeated request gets a new one.
  const response = await (key === undefined
    ? fetch(endpoint, await request())
    : key.send(fetch, endpoint, request));
  const given = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.status === 200) return given;
  const code = typeof given.error === 'string' ? codeOf(given.error) : `status ${response.status}`;
  throw noToken(server, `${issuer} responded with ${code}`);
}

interface Authentication {
  readonly client: GrantRequest['client'];
  readonly issuer: string;
  readonly methods: readonly string[];
}

/** Authenticates the client, in the form or with the headers that it returns. */
async function authenticate(
  form: URLSearchParams,
  { client, issuer, methods }: Authentication,
): Promise<Record<string, string>> {
  const { clientId, clientSecret, privateKey, keyAlgorithm = 'ES256', keyId } = client;
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

export function noToken(server: string, why: string): SwitchboardError {
  return new SwitchboardError('AUTH_FAILED', `No token for server ${JSON.stringify(server)}: ${why}.`, {
    hint: 'Check "oauth" in its entry.',
  });
}
