import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify, type JWK } from 'jose';
import { expect, test } from 'vitest';
import { atTestEnd } from '../../../test/helpers/cleanup.ts';
import { nonceIn } from '../dpop-nonce.ts';
import { createAddressGuard } from './addresses.ts';
import { ProofKey, usesDpop } from './dpop.ts';
import { createGuardedFetch, type Fetch } from './fetch.ts';

const URL_WITH_QUERY = new URL('https://mcp.example.com/mcp?key=secret#part');
const verified = (proof: string) => jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: ['ES256'] });
const keyIn = (proof: string): JWK => decodeProtectedHeader(proof).jwk!;

test('a proof is for one request and one token, and holds the public key only', async () => {
  const proof = ProofKey.create().proof({ method: 'POST', url: URL_WITH_QUERY, token: 'abc', nonce: 'n-1' });
  const { payload, protectedHeader } = await verified(proof);
  expect(payload).toEqual({
    jti: expect.stringMatching(/^[\w-]{36}$/),
    htm: 'POST',
    htu: 'https://mcp.example.com/mcp',
    iat: expect.closeTo(Date.now() / 1000, -1),
    // SHA-256 of "abc", from FIPS 180-2.
    ath: Buffer.from('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', 'hex').toString(
      'base64url',
    ),
    nonce: 'n-1',
  });
  expect(Object.keys(protectedHeader.jwk!).sort()).toEqual(['crv', 'kty', 'x', 'y']);
});

test('a request for a token is proven without a token and, at first, without a nonce', async () => {
  const { payload } = await verified(ProofKey.create().proof({ method: 'POST', url: URL_WITH_QUERY }));
  expect(Object.keys(payload).sort()).toEqual(['htm', 'htu', 'iat', 'jti']);
});

test('no two proofs are the same', () => {
  const key = ProofKey.create();
  const proofs = Array.from({ length: 100 }, () => key.proof({ method: 'GET', url: URL_WITH_QUERY }));
  expect(new Set(proofs).size).toBe(100);
});

test('a key is the same after it was stored, and is not shown by accident', async () => {
  for (let n = 0; n < 50; n++) {
    const key = ProofKey.create();
    expect(key.secret).toMatch(/^[\w-]{43}$/);
    const again = new ProofKey(key.secret).proof({ method: 'GET', url: URL_WITH_QUERY });
    await verified(again);
    const first = key.proof({ method: 'GET', url: URL_WITH_QUERY });
    expect(await calculateJwkThumbprint(keyIn(again))).toBe(await calculateJwkThumbprint(keyIn(first)));
    expect(inspect(key, { depth: 9 }) + JSON.stringify(key)).not.toContain(key.secret);
  }
});

/** An issuer that answers as the test decides; `nonces` contains the nonces of the proofs it received. */
async function issuer(answer: (count: number) => { status: number; body: unknown; nonce?: string }) {
  const nonces: unknown[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    void verified(String(request.headers.dpop)).then(({ payload }) => {
      nonces.push(payload.nonce);
      const { status, body, nonce } = answer(nonces.length);
      response.writeHead(status, { ...(nonce === undefined ? {} : { 'DPoP-Nonce': nonce }) });
      response.end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token`);
  const fetch: Fetch = createGuardedFetch(createAddressGuard(url));
  return { nonces, url, fetch };
}

const WANTS_NONCE = { error: 'use_dpop_nonce' };
const request = () => ({ method: 'POST', body: new URLSearchParams({ a: 'b' }) });

test('a nonce is sent back once, and remembered, the newest of them', async () => {
  const { nonces, url, fetch } = await issuer((count) =>
    count === 1
      ? { status: 400, body: WANTS_NONCE, nonce: 'first' }
      : { status: 200, body: {}, nonce: `next-${count}` },
  );
  const key = ProofKey.create();
  expect((await key.send(fetch, url, request)).status).toBe(200);
  expect((await key.send(fetch, url, request)).status).toBe(200);
  expect(nonces).toEqual([undefined, 'first', 'next-2']);
});

test('an issuer that always wants another nonce is asked twice', async () => {
  const { nonces, url, fetch } = await issuer((count) => ({
    status: 400,
    body: WANTS_NONCE,
    nonce: `n${count}`,
  }));
  const answer = await ProofKey.create().send(fetch, url, request);
  expect([answer.status, await answer.json()]).toEqual([400, WANTS_NONCE]);
  expect(nonces).toEqual([undefined, 'n1']);
});

test.each([
  ['none', undefined, WANTS_NONCE],
  ['one with a quote', 'a"b', WANTS_NONCE],
  ['one with a space', 'a b', WANTS_NONCE],
  ['two', 'a, b', WANTS_NONCE],
  ['one that is too long', 'x'.repeat(1025), WANTS_NONCE],
  ['one with another error', 'fine', { error: 'invalid_grant' }],
  ['one with a body that is no object', 'fine', null],
])('a response with %s is not answered', async (_, nonce, body) => {
  const { nonces, url, fetch } = await issuer(() => ({
    status: 400,
    body,
    ...(nonce === undefined ? {} : { nonce }),
  }));
  expect((await ProofKey.create().send(fetch, url, request)).status).toBe(400);
  expect(nonces).toEqual([undefined]);
});

test('a nonce goes to the origin that sent it only', async () => {
  const one = await issuer(() => ({ status: 200, body: {}, nonce: 'of-one' }));
  const other = await issuer(() => ({ status: 200, body: {} }));
  const key = ProofKey.create();
  for (const { fetch, url } of [one, other, one]) await key.send(fetch, url, request);
  expect([one.nonces, other.nonces]).toEqual([[undefined, 'of-one'], [undefined]]);
});

test('a nonce has the characters of the specification', () => {
  expect(nonceIn('!#[]~azAZ09.-_')).toBe('!#[]~azAZ09.-_');
  for (const odd of ['', ' ', 'a\tb', 'a\\b', 'é', '\u0000', 'a\nb', undefined, null, ['a']])
    expect(nonceIn(odd), JSON.stringify(odd)).toBeUndefined();
});

const ISSUER = { dpop_signing_alg_values_supported: ['ES256'] };

test.each([
  ['the server says nothing of it', {}, false],
  ['the server asks for it', { challenge: 'DPoP algs="ES256"' }, true],
  ['the server takes both', { challenge: 'Bearer realm="x", DPoP algs="ES256"' }, true],
  ['the server mentions a word like it', { challenge: 'Bearer realm="nodpop"' }, false],
  ['its metadata requires it', { about: { dpop_bound_access_tokens_required: true } }, true],
  ['its metadata has the algorithm', { about: ISSUER }, true],
  ['its metadata has other algorithms', { about: { dpop_signing_alg_values_supported: ['RS256'] } }, false],
  ['the issuer cannot do it', { challenge: 'DPoP', metadata: {} }, false],
  ['the issuer has no metadata', { challenge: 'DPoP', metadata: undefined }, false],
  [
    'the issuer has another algorithm',
    { challenge: 'DPoP', metadata: { dpop_signing_alg_values_supported: ['RS256'] } },
    false,
  ],
  [
    'the metadata is odd',
    { challenge: 'DPoP', metadata: { dpop_signing_alg_values_supported: 'ES256' } },
    false,
  ],
])('by default, whether a key is used is decided by server and issuer: %s', (_, parties, expected) => {
  const all = { server: 's', issuer: 'i', challenge: null, about: undefined, metadata: ISSUER, ...parties };
  for (const dpop of [undefined, 'auto'] as const) expect(usesDpop({ dpop }, all)).toBe(expected);
  expect(usesDpop({ dpop: 'off' }, all)).toBe(false);
  if (all.metadata === ISSUER) expect(usesDpop({ dpop: 'required' }, all)).toBe(true);
  else expect(() => usesDpop({ dpop: 'required' }, all)).toThrow(/issuer i does not support it \(ES256\)/);
});
