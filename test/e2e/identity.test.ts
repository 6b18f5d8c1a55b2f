/**
 * A gateway that an identity provider guards, with a real provider and the official client: from a 401 to a tool call,
 * with registration, PKCE and the resource; who is who, what roles make of it, and what happens at the edges.
 */
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { freePort } from '../helpers/remote-server.ts';
import { HttpSession, type Target } from '../helpers/http-client.ts';
import { startHttpGateway, TOKEN, type HttpGatewayOptions } from '../helpers/http-gateway.ts';
import { callCanary, postToCanary } from '../helpers/canary-client.ts';
import { connectWithLogin as connect } from '../helpers/login.ts';
import { startIdentityProvider } from '../servers/identity-provider.mjs';
import { startIssuer } from '../helpers/issuer.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CANARY = { canary: nodeServer('canary') };

async function guardedGateway(oauth: object, config: object = {}, port = 0) {
  const args = ['--http', String(port), '--json'];
  const options: HttpGatewayOptions = { args, http: { token: TOKEN, oauth }, config };
  return startHttpGateway(CANARY, options);
}

async function worldWithProvider({
  format = 'jwt',
  config = {},
}: { format?: 'jwt' | 'opaque'; config?: object } = {}) {
  const port = await freePort();
  const provider = await startIdentityProvider({ resource: `http://127.0.0.1:${port}/mcp`, format });
  atTestEnd(() => provider.close());
  const introspection = { clientId: 'gateway', clientSecret: 'secret-of-the-gateway' };
  const oauth = { issuer: provider.url, scopes: ['mcp'], ...(format === 'opaque' ? { introspection } : {}) };
  return { provider, gateway: await guardedGateway(oauth, config, port) };
}

const recall = (client: Client, subtool = 'recall', args = {}) =>
  client.callTool({ name: 'canary_suite', arguments: { action: 'call', subtool, args } });

describe.each(['jwt', 'opaque'] as const)('the official client and a provider with %s tokens', (format) => {
  test('get from a 401 to a tool call, and users never meet', async () => {
    const { provider, gateway } = await worldWithProvider({ format });
    const alice = await connect(gateway.url);
    expect(alice.keeper.page!.searchParams.get('resource')).toBe(gateway.url);
    expect(alice.keeper.page!.searchParams.get('code_challenge_method')).toBe('S256');
    await recall(alice.client, 'remember', { value: 'of alice' });
    provider.user = 'bob';
    const bob = await connect(gateway.url);
    expect(JSON.stringify(await recall(bob.client))).toContain('null');
    const tokenOf = ({ keeper }: typeof alice): Target => ({
      url: gateway.url,
      token: keeper.kept.tokens.access_token,
    });
    // Without a session, it is the token that tells them apart.
    await callCanary(tokenOf(alice), 'remember', { value: 'of alice' });
    expect(await callCanary(tokenOf(bob), 'recall')).toMatchObject({ value: null });
    expect(await callCanary(tokenOf(alice), 'recall')).toMatchObject({ value: 'of alice' });
    // The token of the gateway works beside it.
    expect(await callCanary(gateway, 'recall')).toMatchObject({ value: null });
    await Promise.all([alice.client.close(), bob.client.close()]);
  });
});

test('groups of the provider have roles', async () => {
  const roles = { staff: { match: { claims: { groups: 'staff' } }, servers: ['canary'], tools: ['recall'] } };
  const { provider, gateway } = await worldWithProvider({ config: { roles } });
  provider.groups.alice = ['staff'];
  const names = async ({ client }: { client: Client }) =>
    (await client.listTools()).tools.map(({ name }) => name);
  const alice = await connect(gateway.url);
  expect(await names(alice)).toEqual(['canary_suite']);
  expect(JSON.stringify(await recall(alice.client))).toContain('pid');
  expect(JSON.stringify(await recall(alice.client, 'remember', { value: 'x' }))).not.toContain('pid');
  provider.user = 'bob';
  const bob = await connect(gateway.url);
  expect(await names(bob)).toEqual([]);
  await Promise.all([alice.client.close(), bob.client.close()]);
});

const at = (url: string, path: string): string => new URL(path, url).href;

test('the metadata is public, at both places, and a 401 leads to it', async () => {
  const gateway = await guardedGateway({ issuer: 'http://127.0.0.1:9', scopes: ['mcp'] });
  const well = '/.well-known/oauth-protected-resource';
  const refused = await fetch(gateway.url, { method: 'POST' });
  const challenge = refused.headers.get('www-authenticate')!;
  expect([refused.status, challenge]).toEqual([
    401,
    expect.stringContaining(`Bearer resource_metadata="${at(gateway.url, `${well}/mcp`)}", scope="mcp"`),
  ]);
  for (const path of [well, `${well}/mcp`])
    expect(await (await fetch(at(gateway.url, path))).json()).toMatchObject({
      resource: gateway.url,
      authorization_servers: ['http://127.0.0.1:9'],
    });
  expect((await fetch(at(gateway.url, well), { method: 'POST' })).status).toBe(405);
  expect((await fetch(at(gateway.url, well), { headers: { origin: 'https://evil.example' } })).status).toBe(
    403,
  );
  expect((await fetch(at(gateway.url, '/status'))).status).toBe(401);
});

test('where no provider is configured, there is no metadata and no word of it', async () => {
  const gateway = await startHttpGateway(CANARY);
  const response = await fetch(at(gateway.url, '/.well-known/oauth-protected-resource'));
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
});

async function worldWithIssuer(oauth: object = {}) {
  const resource = 'https://mcp.example.com/mcp';
  const issuer = await startIssuer(resource);
  const gateway = await guardedGateway({ issuer: issuer.url, resource, ...oauth });
  const as = async (...claims: Parameters<typeof issuer.token>): Promise<Target> => ({
    url: gateway.url,
    token: await issuer.token(...claims),
  });
  return { issuer, gateway, as };
}

test('a session is only for the principal that opened it, with any token of theirs', async () => {
  const { as } = await worldWithIssuer();
  const session = await HttpSession.open(await as({ sub: 'alice' }));
  const list = async ({ token }: Target): Promise<number> => {
    const headers = {
      ...session.headers({
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      }),
      authorization: `Bearer ${token}`,
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    return (await fetch(session.target.url, { method: 'POST', headers, body })).status;
  };
  expect(await list(await as({ sub: 'alice', jti: 'refreshed' }))).toBe(200);
  expect(await list(await as({ sub: 'bob' }))).toBe(404);
  expect(await list({ url: '', token: TOKEN })).toBe(404);
  // What roles look at makes another principal, even where the user is the same.
  expect(await list(await as({ sub: 'alice', groups: ['admin'] }))).toBe(404);
});

test('a stream ends with the token it was opened with', async () => {
  const { as } = await worldWithIssuer({ clockToleranceMs: 0 });
  const session = await HttpSession.open(await as({ exp: Math.floor(Date.now() / 1000) + 4 }));
  const stream = await session.listen();
  await until(() => stream.ended, { what: 'the end of the stream', deadline: 20_000 });
  expect((await session.post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status).toBe(401);
});

test('an issuer that is away means 503 until it is back, and the token of the gateway works', async () => {
  const { issuer, gateway, as } = await worldWithIssuer();
  issuer.broken = true;
  const refused = await postToCanary(await as(), 'recall');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await refused.text()).toMatch(/identity provider is not reachable/);
  expect((await postToCanary(gateway, 'recall')).status).toBe(200);
  issuer.broken = false;
  expect((await postToCanary(await as(), 'recall')).status).toBe(200);
});
