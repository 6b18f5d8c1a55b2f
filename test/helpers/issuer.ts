import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { atTestEnd } from './cleanup.ts';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** A key pair with its own id. */
export async function signingKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An issuer of access tokens whose keys, responses and failures are set by a test. */
export interface TestIssuer {
  readonly url: string;
  /** The keys it publishes. */
  keys: readonly SigningKey[];
  /** Whether it answers 500 to everything. */
  broken: boolean;
  /** Its introspection responses for opaque tokens. */
  readonly opaque: Map<string, JWTPayload>;
  /** The requested paths. */
  readonly asked: string[];
  /** A token, valid for a minute, with these claims in addition to the usual ones. */
  token(claims?: JWTPayload, key?: SigningKey): Promise<string>;
  close(): Promise<void>;
}

export async function startIssuer(audience: string): Promise<TestIssuer> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.asked.push(path);
    const reply = (status: number, body: unknown): void => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (issuer.broken) reply(500, {});
    else if (path === '/.well-known/oauth-authorization-server')
      reply(200, {
        issuer: issuer.url,
        jwks_uri: `${issuer.url}/keys`,
        introspection_endpoint: `${issuer.url}/introspect`,
      });
    else if (path === '/keys') reply(200, { keys: issuer.keys.map(({ publicJwk }) => publicJwk) });
    else if (path === '/introspect')
      void bodyOf(request).then((body) => {
        const known = issuer.opaque.get(new URLSearchParams(body).get('token') ?? '');
        const right = request.headers.authorization === `Basic ${btoa('gateway:secret%3A')}`;
        if (right) reply(200, known === undefined ? { active: false } : { active: true, ...known });
        else reply(401, {});
      });
    else reply(404, {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: TestIssuer = {
    url,
    keys: [await signingKey('first')],
    broken: false,
    opaque: new Map(),
    asked: [],
    token: (claims = {}, key = issuer.keys[0]!) =>
      new SignJWT({ aud: audience, iss: url, sub: 'alice', ...inAMinute(), ...claims })
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt' })
        .sign(key.privateKey),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  atTestEnd(() => issuer.close());
  return issuer;
}

function inAMinute(): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return { iat: now, exp: now + 60 };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
