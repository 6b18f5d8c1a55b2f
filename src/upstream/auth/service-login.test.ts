import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import type { OAuthOptions } from './credentials.ts';
import { openLogin } from './index.ts';

/** A server that names its issuer, and that issuer, which records its requests and answers as the test decides. */
async function world(oauth: (url: string) => OAuthOptions) {
  const asked: { readonly form: URLSearchParams; readonly authorization: string | undefined }[] = [];
  const answer: { status: number; body: object } = {
    status: 200,
    body: { access_token: 'token-1', token_type: 'Bearer', expires_in: 3600 },
  };
  const server = createServer((request, response) => {
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/.well-known/oauth-protected-resource/mcp')
      reply(200, { resource: `${url}/mcp`, authorization_servers: [url], scopes_supported: ['read'] });
    else if (request.url === '/.well-known/oauth-authorization-server')
      reply(200, {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        response_types_supported: ['code'],
      });
    else if (request.url === '/token')
      void textOf(request).then((text) => {
        asked.push({ form: new URLSearchParams(text), authorization: request.headers.authorization });
        reply(answer.status, answer.body);
      });
    else reply(404, {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const login = await openLogin({
    ...{ server: 'remote', url: `${url}/mcp`, directory: '/nonexistent', log: silentLogger },
    oauth: oauth(url),
  });
  return { url, asked, answer, login };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

const SECRET = { grant: 'client_credentials', clientId: 'us', clientSecret: 'a:b' } as const;

test('client credentials get a token, once for all who wait, which is used until it ends', async () => {
  const { login, asked, answer, url } = await world(() => SECRET);
  expect(await login.authorization()).toBeUndefined();
  const got = await Promise.all([1, 2, 3].map(() => login.renewed(undefined, undefined)));
  expect(got).toEqual(Array(3).fill({ kind: 'renewed', authorization: 'Bearer token-1' }));
  expect(asked).toHaveLength(1);
  expect(Object.fromEntries(asked[0]!.form)).toEqual({
    grant_type: 'client_credentials',
    scope: 'read',
    resource: `${url}/mcp`,
  });
  expect(asked[0]!.authorization).toBe(`Basic ${btoa('us:a%3Ab')}`);
  expect(await login.authorization()).toBe('Bearer token-1');
  answer.body = { access_token: 'token-2', token_type: 'Bearer', expires_in: 30 };
  expect(await login.renewed('Bearer token-1', undefined)).toMatchObject({ authorization: 'Bearer token-2' });
  // It expires within the margin, so the next request gets a new one.
  answer.body = { access_token: 'token-3', token_type: 'Bearer' };
  expect(await login.authorization()).toBe('Bearer token-3');
  expect(asked).toHaveLength(3);
});

test('a private key signs an assertion for the issuer', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const key = await exportPKCS8(privateKey);
  const { login, asked, url } = await world(() => ({
    grant: 'client_credentials',
    clientId: 'us',
    privateKey: key,
    keyId: 'k',
  }));
  expect(await login.renewed(undefined, undefined)).toMatchObject({ kind: 'renewed' });
  const { form, authorization } = asked[0]!;
  expect(authorization).toBeUndefined();
  const { payload, protectedHeader } = await jwtVerify(form.get('client_assertion')!, publicKey, {
    audience: url,
  });
  expect([payload.iss, payload.sub, protectedHeader.kid]).toEqual(['us', 'us', 'k']);
});

test('a JWT of another issuer is exchanged for a token', async () => {
  const { login, asked } = await world(() => ({ grant: 'jwt_bearer', assertion: 'a.b.c', scope: 'write' }));
  expect(await login.renewed(undefined, undefined)).toMatchObject({ kind: 'renewed' });
  expect(Object.fromEntries(asked[0]!.form)).toMatchObject({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: 'a.b.c',
    scope: 'write',
  });
});

/** An identity provider that exchanges ID tokens as the test decides, and records its requests. */
async function identityProvider(answer: { status: number; body: object }) {
  const asked: { readonly form: URLSearchParams; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      asked.push({ form: new URLSearchParams(text), authorization: request.headers.authorization });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const tokenEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/exchange`;
  return { asked, settings: { tokenEndpoint, clientId: 'us-there', clientSecret: 'secret-there' } };
}

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

test('an ID token is exchanged at the identity provider, and what that gives at the issuer', async () => {
  const body = { access_token: 'the-grant', issued_token_type: ID_JAG, token_type: 'N_A' };
  const provider = await identityProvider({ status: 200, body });
  const { login, asked, url } = await world(() => ({
    ...SECRET,
    grant: 'token_exchange',
    assertion: 'id.token.x',
    identityProvider: provider.settings,
  }));
  expect(await login.renewed(undefined, undefined)).toMatchObject({ authorization: 'Bearer token-1' });
  expect(Object.fromEntries(provider.asked[0]!.form)).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: ID_JAG,
    audience: url,
    resource: `${url}/mcp`,
    scope: 'read',
    subject_token: 'id.token.x',
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
  });
  expect(provider.asked[0]!.authorization).toBe(`Basic ${btoa('us-there:secret-there')}`);
  // The issuer of the server receives neither the ID token nor the secret of the identity provider.
  expect(Object.fromEntries(asked[0]!.form)).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: 'the-grant',
    scope: 'read',
    resource: `${url}/mcp`,
  });
  expect(asked[0]!.authorization).toBe(`Basic ${btoa('us:a%3Ab')}`);
});

test.each([
  ['refuses', 400, { error: 'access_denied', error_description: 'id.token.x is no good' }, /access_denied/],
  ['gives a token of another type', 200, { access_token: 'x', issued_token_type: 'jwt' }, /ID-JAG/],
  ['gives none', 200, { issued_token_type: ID_JAG }, /ID-JAG/],
  ['gives one that fits no header', 200, { access_token: 'a b', issued_token_type: ID_JAG }, /ID-JAG/],
  ['fails', 503, {}, /status 503/],
])('an identity provider that %s is told, and the issuer is not asked', async (_, status, body, reason) => {
  const provider = await identityProvider({ status, body });
  const { login, asked } = await world(() => ({
    ...SECRET,
    grant: 'token_exchange',
    assertion: 'id.token.x',
    identityProvider: provider.settings,
  }));
  const refused = await login.renewed(undefined, undefined);
  expect(refused).toMatchObject({ kind: 'unavailable', reason: expect.stringMatching(reason) });
  expect(JSON.stringify(refused)).toContain(new URL(provider.settings.tokenEndpoint).origin);
  expect(JSON.stringify(refused)).not.toMatch(/id\.token\.x|secret-there/);
  expect(asked).toHaveLength(0);
});

test('an exchange without an identity provider or an ID token says what is missing', async () => {
  const exchange = { ...SECRET, grant: 'token_exchange' } as const;
  for (const [more, missing] of [
    [{}, '"assertion"'],
    [{ assertion: 'a.b.c' }, '"identityProvider"'],
    [{ assertion: 'a.b.c', identityProvider: { tokenEndpoint: 'nowhere' } }, '"tokenEndpoint"'],
  ] as const) {
    const { login } = await world(() => ({ ...exchange, ...more }));
    expect(await login.renewed(undefined, undefined)).toMatchObject({
      reason: expect.stringContaining(missing),
    });
  }
});

test('the secret goes to no other issuer than the configured one', async () => {
  const { login, asked } = await world(() => ({ ...SECRET, issuer: 'https://id.example.com' }));
  expect(await login.renewed(undefined, undefined)).toMatchObject({
    kind: 'unavailable',
    reason: expect.stringContaining('does not name the issuer https://id.example.com'),
  });
  expect(asked).toHaveLength(0);
});

test('an issuer that refuses is not asked again at once, and its reason is told without the secret', async () => {
  const { login, asked, answer } = await world(() => SECRET);
  Object.assign(answer, {
    status: 401,
    body: { error: 'invalid_client', error_description: 'a:b is wrong' },
  });
  for (let n = 0; n < 3; n++) {
    const refused = await login.renewed(undefined, undefined);
    expect(refused).toMatchObject({ kind: 'unavailable', reason: expect.stringContaining('invalid_client') });
    expect(JSON.stringify(refused)).not.toContain('a:b');
  }
  expect(asked).toHaveLength(1);
});
