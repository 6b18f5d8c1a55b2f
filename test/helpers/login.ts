import { createHash, randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { expect } from 'vitest';
import { browse } from './provider-browser.ts';

/** What the official client keeps of a login. */
class Keeper {
  readonly redirectUrl = 'http://127.0.0.1:9/callback';
  readonly clientMetadata = {
    client_name: 'test',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  };
  readonly kept: Record<string, any> = {};
  page: URL | undefined;
  clientInformation = () => this.kept.client;
  saveClientInformation = (client: unknown) => void (this.kept.client = client);
  tokens = () => this.kept.tokens;
  saveTokens = (tokens: unknown) => void (this.kept.tokens = tokens);
  codeVerifier = () => this.kept.verifier as string;
  saveCodeVerifier = (verifier: string) => void (this.kept.verifier = verifier);
  redirectToAuthorization = (page: URL) => void (this.page = page);
}

/** Logs in at the provider, and returns what it sends back. */
async function agree(page: URL): Promise<URLSearchParams> {
  const { at, text } = await browse(page, ({ port }) => port === '9');
  if (!at.searchParams.has('code')) throw new Error(`The provider gave no code at ${at.href}: ${text}`);
  return at.searchParams;
}

/** Logs in with the official client, from nothing, and connects. */
export async function connectWithLogin(url: string): Promise<{ client: Client; keeper: Keeper }> {
  const keeper = new Keeper();
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: keeper as never });
  const first = transport();
  await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
  await first.finishAuth(await agree(keeper.page!));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport());
  return { client, keeper };
}

/** A token that is bound to a key of its client, and the proofs that go with it. */
export interface BoundToken {
  readonly token: string;
  /** A new proof for one request to this address. */
  proof(method: string, url: string): Promise<string>;
}

const CALLBACK = 'http://127.0.0.1:9/callback';

/** Logs in with a key (DPoP), as the provider wants it: registration, PKCE, and a proof for the token. */
export async function loginWithKey(provider: string, resource: string): Promise<BoundToken> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const registered = await fetch(`${provider}/reg`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }),
  });
  const { client_id } = (await registered.json()) as { client_id: string };
  const verifier = randomBytes(32).toString('base64url');
  const page = new URL(`${provider}/auth`);
  page.search = new URLSearchParams({
    ...{ client_id, resource, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid mcp' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  const code = (await agree(page)).get('code')!;
  const endpoint = `${provider}/token`;
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { dpop: await proofWith({ privateKey, jwk }, { htm: 'POST', htu: endpoint }) },
    body: new URLSearchParams({
      ...{ client_id, resource, code, redirect_uri: CALLBACK },
      ...{ grant_type: 'authorization_code', code_verifier: verifier },
    }),
  });
  const said = (await response.json()) as { access_token: string; token_type: string };
  expect(said.token_type).toBe('DPoP');
  const token = said.access_token;
  const ath = createHash('sha256').update(token).digest('base64url');
  return {
    token,
    proof: (method, url) => proofWith({ privateKey, jwk }, { htm: method, htu: url, ath }),
  };
}

function proofWith(
  { privateKey, jwk }: { readonly privateKey: CryptoKey; readonly jwk: JWK },
  claims: { readonly htm: string; readonly htu: string; readonly ath?: string },
): Promise<string> {
  return new SignJWT({ ...claims, jti: randomBytes(12).toString('base64url') })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
    .setIssuedAt()
    .sign(privateKey);
}
