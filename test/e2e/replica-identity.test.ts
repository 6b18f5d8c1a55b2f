/** Gateways that act as one and that an identity provider guards: a real provider, any gateway for each request. */
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { TOKEN, type HttpGateway } from '../helpers/http-gateway.ts';
import { LoadBalancer } from '../helpers/load-balancer.ts';
import { connectWithLogin, loginWithKey, type BoundToken } from '../helpers/login.ts';
import { startReplicas } from '../helpers/replica-set.ts';
import { NO_REDIS, StoreServer } from '../helpers/store-server.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startIdentityProvider } from '../servers/identity-provider.mjs';

/** The address that clients use is that of the load balancer. */
async function start(count: number, config: object = {}) {
  const [store, balancer] = await Promise.all([StoreServer.start(), LoadBalancer.start()]);
  const provider = await startIdentityProvider({ resource: balancer.url });
  atTestEnd(() => provider.close());
  const gateways = await startReplicas(count, {
    store: store.url,
    servers: { canary: nodeServer('canary') },
    config: {
      http: { token: TOKEN, oauth: { issuer: provider.url, resource: balancer.url, scopes: ['mcp'] } },
      ...config,
    },
  });
  balancer.targets = gateways.map(({ url }) => url);
  return { store, balancer, provider, gateways };
}

const call = (subtool: string, args: object = {}) => ({
  name: 'canary_suite',
  arguments: { action: 'call', subtool, args },
});
const said = async (client: Client, ...what: Parameters<typeof call>): Promise<string> =>
  JSON.stringify(await client.callTool(call(...what)));

/** One request of a session, straight to a gateway. */
async function post(
  gateway: HttpGateway,
  headers: Record<string, string>,
  [method, params]: readonly [string, object],
): Promise<{ readonly status: number; readonly text: string; readonly session: string | null }> {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const session = response.headers.get('mcp-session-id');
  return { status: response.status, text: await response.text(), session };
}

const INITIALIZE = [
  'initialize',
  { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
] as const;
const RECALL = ['tools/call', call('recall')] as const;

describe.skipIf(NO_REDIS !== undefined)(`guarded replicas${NO_REDIS ? ` (${NO_REDIS})` : ''}`, () => {
  test('a client logs in once, and its session and its roles are the same through all of them', async () => {
    const roles = {
      staff: { match: { claims: { groups: 'staff' } }, servers: ['canary'] },
      guest: { match: { claims: { groups: 'guest' } }, servers: ['canary'], tools: ['recall'] },
    };
    const { provider, balancer, gateways } = await start(3, { roles });
    provider.groups.alice = ['staff'];
    provider.groups.bob = ['guest'];
    const alice = await connectWithLogin(balancer.url);
    expect(await said(alice.client, 'remember', { value: 'of alice' })).toContain('of alice');
    for (let turn = 0; turn < 6; turn++) expect(await said(alice.client, 'recall')).toContain('of alice');

    provider.user = 'bob';
    const bob = await connectWithLogin(balancer.url);
    for (let turn = 0; turn < 6; turn++) {
      expect(await said(bob.client, 'recall')).toContain('null');
      expect(await said(bob.client, 'remember', { value: 'of bob' })).not.toContain('pid');
    }
    // The session of one is nowhere to be found with the token of another.
    const session = alice.client.transport!.sessionId!;
    const asOf = ({ keeper }: typeof alice) => ({
      authorization: `Bearer ${keeper.kept.tokens.access_token}`,
      'mcp-session-id': session,
    });
    for (const gateway of gateways) {
      expect(await post(gateway, asOf(bob), RECALL)).toMatchObject({ status: 404 });
      const own = { authorization: `Bearer ${TOKEN}`, 'mcp-session-id': session };
      expect(await post(gateway, own, RECALL)).toMatchObject({ status: 404 });
      expect((await post(gateway, asOf(alice), RECALL)).text).toContain('of alice');
    }
    await Promise.all([alice.client.close(), bob.client.close()]);
  });

  test('a token that is bound to a key works through all of them, and each proof once, wherever it is sent', async () => {
    const { store, provider, balancer, gateways } = await start(3);
    const [first, second, third] = gateways as [HttpGateway, HttpGateway, HttpGateway];
    const bound = await loginWithKey(provider.url, balancer.url);
    const proven = async (session = '', proof = bound.proof('POST', balancer.url)) =>
      headersFor(bound, await proof, session);
    const begun = await post(first, await proven(), INITIALIZE);
    expect(begun.status).toBe(200);
    const session = begun.session!;
    for (const gateway of gateways)
      expect((await post(gateway, await proven(session), RECALL)).text).toContain('pid');

    const proof = await bound.proof('POST', balancer.url);
    const headers = headersFor(bound, proof, session);
    expect((await post(second, headers, RECALL)).status).toBe(200);
    for (const gateway of gateways) {
      const again = await post(gateway, headers, RECALL);
      expect([again.status, again.text]).toEqual([401, expect.stringContaining('was used before')]);
    }
    // All at once, one of them takes it.
    const raced = headersFor(bound, await bound.proof('POST', balancer.url), session);
    const statuses = await Promise.all(
      gateways.map(async (each) => (await post(each, raced, RECALL)).status),
    );
    expect(statuses.sort()).toEqual([200, 401, 401]);
    const bearer = { authorization: `Bearer ${bound.token}`, 'mcp-session-id': session };
    expect((await post(third, bearer, RECALL)).status).toBe(401);

    await store.stop();
    await until(() => gateways.every(({ stderr }) => stderr.includes('the store is away')));
    const last = headersFor(bound, await bound.proof('POST', balancer.url), session);
    expect((await post(second, last, RECALL)).text).toContain('pid');
    expect((await post(second, last, RECALL)).status).toBe(401);
  });
});

function headersFor({ token }: BoundToken, proof: string, session: string): Record<string, string> {
  return {
    authorization: `DPoP ${token}`,
    dpop: proof,
    ...(session === '' ? {} : { 'mcp-session-id': session }),
  };
}
