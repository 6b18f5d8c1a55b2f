import { createHash, createHmac, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { expect, test } from 'vitest';
import { silentLogger } from '../shared/log.ts';
import { signingKey, startIssuer, type SigningKey, type TestIssuer } from '../../test/helpers/issuer.ts';
import { until } from '../../test/helpers/until.ts';
import { OAuthResource, type OAuthResourceOptions } from './index.ts';

const RESOURCE = 'https://mcp.example.com/mcp';

function resourceOf(issuer: string, options: Partial<OAuthResourceOptions> = {}): OAuthResource {
  return new OAuthResource({
    issuer,
    resource: RESOURCE,
    scopes: [],
    principalClaim: 'sub',
    clockToleranceMs: 0,
    dpop: 'optional',
    roleClaims: () => '',
    fetch: (url, init) => fetch(url, init),
    log: silentLogger,
    ...options,
  });
}

async function world(options: Partial<OAuthResourceOptions> = {}) {
  const issuer = await startIssuer(RESOURCE);
  const resource = resourceOf(issuer.url, options);
  const send = (token: string, more: { scheme?: string; proof?: string; method?: string } = {}) =>
    resource.verify({ scheme: 'bearer', token, proof: undefined, method: 'POST', path: '/mcp', ...more });
  /** The outcome of a request: the principal, or the status with the reason. */
  const outcome = async (...request: Parameters<typeof send>): Promise<unknown> => {
    const checked = await send(...request);
    return 'caller' in checked ? checked.caller.principal : `${checked.status} ${checked.why}`;
  };
  return { issuer, resource, send, outcome };
}

test('a token of the issuer for this resource lets its subject in', async () => {
  const { issuer, outcome, send } = await world();
  expect(await outcome(await issuer.token())).toBe(`${issuer.url} alice`);
  const other = await issuer.token({ sub: 'bob b', aud: ['https://else.example', RESOURCE] });
  expect(await outcome(other)).toBe(`${issuer.url} bob%20b`);
  expect(await send(await issuer.token({ groups: ['ops'] }))).toMatchObject({
    caller: { claims: { groups: ['ops'] }, expiresAt: expect.any(Number) },
  });
});

test.each<[string, (issuer: TestIssuer) => Promise<string> | string, string]>([
  [
    'another audience',
    (issuer) => issuer.token({ aud: 'https://else.example' }),
    'it is for another audience',
  ],
  ['no audience', (issuer) => issuer.token({ aud: undefined as never }), 'it is for another audience'],
  ['another issuer', (issuer) => issuer.token({ iss: 'https://else.example' }), 'it is from another issuer'],
  ['a time that is over', (issuer) => issuer.token({ exp: 1_000_000 }), 'it has expired'],
  ['no end', (issuer) => issuer.token({ exp: undefined as never }), 'its claim "exp" is missing or wrong'],
  ['a time to come', (issuer) => issuer.token({ nbf: 9_999_999_999 }), 'it is not valid yet'],
  [
    'no subject',
    (issuer) => issuer.token({ sub: undefined as never }),
    'it has no claim "sub" that names its user',
  ],
  [
    'a key of somebody else',
    async (issuer) => issuer.token({}, await signingKey('first')),
    'its signature is wrong',
  ],
  [
    'an unknown key',
    async (issuer) => issuer.token({}, await signingKey('unknown')),
    'the issuer has no such key',
  ],
  ['no signature', (issuer) => unsigned(issuer), 'its algorithm is not allowed'],
  ['the public key as a shared secret', (issuer) => confused(issuer), 'its algorithm is not allowed'],
  ['nothing of a JWT', () => 'opaque', 'it is malformed'],
  ['parts of a JWT', () => 'e30.e30.e30', 'it is malformed'],
])('a token with %s is refused with 401 and a challenge', async (_what, make, why) => {
  const { issuer, send } = await world();
  const refused = await send(await make(issuer));
  expect(refused).toMatchObject({ status: 401, why: `token: ${why}` });
  const challenge = 'headers' in refused ? refused.headers['WWW-Authenticate'] : '';
  expect(challenge).toMatch(/^Bearer resource_metadata="https:\/\/mcp\.example\.com\/\.well-known\/oauth-/);
  expect(challenge).toContain('error="invalid_token"');
});

function unsigned({ url }: TestIssuer): string {
  return new UnsecuredJWT({ aud: RESOURCE, iss: url, sub: 'alice' }).setExpirationTime('1m').encode();
}

function confused({ url, keys }: TestIssuer): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload: JWTPayload = { aud: RESOURCE, iss: url, sub: 'alice', exp: 9_999_999_999 };
  const text = `${part({ alg: 'HS256', kid: 'first' })}.${part(payload)}`;
  const secret = JSON.stringify(keys[0]!.publicJwk);
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

test('clocks may differ by the tolerance, and only by that', async () => {
  const { issuer, outcome } = await world({ clockToleranceMs: 60_000 });
  const ago = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds;
  expect(await outcome(await issuer.token({ exp: ago(30) }))).toBe(`${issuer.url} alice`);
  expect(await outcome(await issuer.token({ exp: ago(90) }))).toContain('expired');
});

test('only the configured algorithms count', async () => {
  const { issuer, outcome } = await world({ algorithms: ['RS256'] });
  expect(await outcome(await issuer.token())).toBe('401 token: its algorithm is not allowed');
  issuer.keys = [await signingKey('rsa', 'RS256')];
  expect(await outcome(await issuer.token())).toBe(`${issuer.url} alice`);
});

test('a token without the scopes gets 403, with what it lacks', async () => {
  const { issuer, send, outcome } = await world({ scopes: ['mcp', 'tools'] });
  const refused = await send(await issuer.token({ scope: 'mcp' }));
  expect(refused).toMatchObject({ status: 403, message: expect.stringContaining('scope tools') });
  const challenge = 'headers' in refused ? refused.headers['WWW-Authenticate'] : '';
  expect(challenge).toMatch(/scope="mcp tools", error="insufficient_scope"/);
  expect(await outcome(await issuer.token({ scp: ['mcp', 'tools'] }))).toBe(`${issuer.url} alice`);
});

test('a new key counts at once, and unknown keys make us ask a few times only', async () => {
  const { issuer, outcome } = await world();
  await outcome(await issuer.token());
  issuer.keys = [await signingKey('second'), ...issuer.keys];
  expect(await outcome(await issuer.token())).toBe(`${issuer.url} alice`);
  const strange = await signingKey('strange');
  for (let n = 0; n < 50; n++) await outcome(await issuer.token({ jti: String(n) }, strange));
  expect(issuer.asked.filter((path) => path === '/keys').length).toBeLessThanOrEqual(4);
});

test('an issuer that is not reachable means 503, until it is back', async () => {
  const { issuer, send, outcome } = await world();
  issuer.broken = true;
  const refused = await send(await issuer.token());
  expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': expect.any(String) } });
  issuer.broken = false;
  expect(await outcome(await issuer.token())).toBe(`${issuer.url} alice`);
  issuer.broken = true;
  // The issuer's keys are cached by now.
  expect(await outcome(await issuer.token({ sub: 'bob' }))).toBe(`${issuer.url} bob`);
});

test('the metadata of another issuer is not trusted', async () => {
  const { issuer } = await world();
  const foreign = resourceOf(issuer.url.replace('127.0.0.1', 'localhost'));
  const token = await issuer.token({ iss: issuer.url.replace('127.0.0.1', 'localhost') });
  const request = { scheme: 'bearer', token, proof: undefined, method: 'POST', path: '/mcp' };
  expect(await foreign.verify(request)).toMatchObject({ status: 503 });
});

test('the metadata names the issuer, at the paths of this resource', () => {
  const resource = resourceOf('https://id.example.com', { scopes: ['mcp'] });
  const at = '/.well-known/oauth-protected-resource';
  for (const path of [at, `${at}/mcp`])
    expect(JSON.parse(resource.metadataAt(path)!)).toMatchObject({
      resource: RESOURCE,
      authorization_servers: ['https://id.example.com'],
      scopes_supported: ['mcp'],
    });
  for (const path of ['/', '/mcp', `${at}/other`, `${at}/mcp/`])
    expect(resource.metadataAt(path)).toBeUndefined();
});

test('tokens that differ in what roles look at are different principals', async () => {
  const { issuer, outcome } = await world({ roleClaims: ({ groups }) => JSON.stringify(groups ?? '') });
  const [one, again, other] = await Promise.all(
    [['a'], ['a'], ['b']].map(async (groups) => outcome(await issuer.token({ groups, jti: randomUUID() }))),
  );
  expect(again).toBe(one);
  expect(other).not.toBe(one);
});

test('the issuer is asked about opaque tokens, and not again within the time', async () => {
  const introspection = { clientId: 'gateway', clientSecret: 'secret:', cacheMs: 60_000 };
  const { issuer, outcome } = await world({ introspection });
  issuer.opaque.set('good', { sub: 'alice', aud: RESOURCE, iss: issuer.url });
  issuer.opaque.set('elsewhere', { sub: 'alice', aud: 'https://else.example' });
  issuer.opaque.set('old', { sub: 'alice', aud: RESOURCE, exp: 1_000_000 });
  for (let n = 0; n < 5; n++) expect(await outcome('good')).toBe(`${issuer.url} alice`);
  expect(issuer.asked.filter((path) => path === '/introspect')).toHaveLength(1);
  expect(await outcome('elsewhere')).toBe('401 token: it is for another audience');
  expect(await outcome('old')).toBe('401 token: it has expired');
  expect(await outcome('unknown')).toBe('401 token: it is not active');
  issuer.broken = true;
  expect(await outcome('another')).toMatch(/^503/);
});

interface Proof {
  readonly key: SigningKey;
  readonly token: string;
  readonly claims?: JWTPayload;
  readonly typ?: string;
}

function proofOf({ key, token, claims = {}, typ = 'dpop+jwt' }: Proof): Promise<string> {
  const { kty, crv, x, y } = key.publicJwk;
  const ath = createHash('sha256').update(token).digest('base64url');
  const usual = { htm: 'POST', htu: RESOURCE, jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ath };
  return new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: key.alg, typ, jwk: { kty, crv, x, y } as never })
    .sign(key.privateKey);
}

test('a token that is bound to a key needs a proof of it, each for one request', async () => {
  const { issuer, outcome, send } = await world();
  const key = await signingKey('mine');
  const token = await issuer.token({ cnf: { jkt: await calculateJwkThumbprint(key.publicJwk) } });
  const fresh = (more: Partial<Proof> = {}): Promise<string> => proofOf({ key, token, ...more });
  const proof = await fresh();
  expect(await outcome(token, { scheme: 'dpop', proof })).toBe(`${issuer.url} alice`);
  const rejected = async (given: string | undefined, why: string, more: object = {}): Promise<void> => {
    const outcome = await send(token, {
      scheme: 'dpop',
      ...(given === undefined ? {} : { proof: given }),
      ...more,
    });
    expect(outcome).toMatchObject({ status: 401, why: expect.stringContaining(why) });
  };
  await rejected(proof, 'used before');
  await rejected(undefined, 'no DPoP proof');
  await rejected(await fresh(), 'scheme DPoP', { scheme: 'bearer' });
  await rejected(await fresh(), 'another method', { method: 'GET' });
  await rejected(await fresh({ claims: { htu: 'https://else.example/mcp' } }), 'another address');
  await rejected(await fresh({ claims: { htu: 'https://mcp.example.com/sse' } }), 'another address');
  await rejected(await fresh({ key: await signingKey('theirs') }), 'another key');
  await rejected(await fresh({ token: 'another' }), 'another token');
  await rejected(await fresh({ claims: { iat: 1_000_000 } }), 'too old');
  await rejected(await fresh({ claims: { iat: 9_999_999_999 } }), 'from the future');
  await rejected(await fresh({ claims: { jti: undefined as never } }), 'no usable jti');
  await rejected(await fresh({ typ: 'jwt' }), 'not valid');
  await rejected('e30.e30.e30', 'not valid');
});

test('a token that is bound to nothing is refused where binding is required', async () => {
  const { issuer, outcome, resource } = await world({ dpop: 'required' });
  expect(await outcome(await issuer.token())).toBe('401 token: it is not bound to a key (DPoP)');
  expect(resource.challenge).toMatch(/^DPoP /);
});

test('a bound token is not accepted as one that is not, nor the other way round', async () => {
  const { issuer, outcome } = await world();
  const key = await signingKey('mine');
  const token = await issuer.token();
  expect(await outcome(token, { scheme: 'dpop', proof: await proofOf({ key, token }) })).toContain(
    'scheme Bearer',
  );
});

test('a withdrawn issuer key ends with the keys that replace it', async () => {
  const { issuer, outcome } = await world();
  const old = issuer.keys[0]!;
  await outcome(await issuer.token());
  issuer.keys = [await signingKey('second')];
  // The unknown key makes us fetch the keys again, after which the old one is gone.
  await until(async () => (await outcome(await issuer.token())) === `${issuer.url} alice`, {
    what: 'the new key',
  });
  expect(await outcome(await issuer.token({ jti: 'x' }, old))).toBe('401 token: the issuer has no such key');
});
