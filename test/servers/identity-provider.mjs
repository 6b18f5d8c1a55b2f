/**
 * A real identity provider (oidc-provider), in which everybody who comes is logged in and consents at once.
 *
 *   const provider = await startIdentityProvider({ resource, format: 'jwt' | 'opaque' });
 *
 * `provider.user` is who logs in next, and `provider.groups` says which groups each user is in: a claim of their tokens.
 * `provider.accessSeconds` is how long the next tokens are good. The client `gateway` may introspect tokens; `clients`
 * are further ones. With `nonces`, proofs of possession must contain a nonce. With `refresh`, whoever registers for refresh
 * tokens gets them. `provider.tokenRequests` has each request for tokens: its form, its proof and the status it got.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { URLSearchParams } from 'node:url';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

export async function startIdentityProvider({
  resource,
  format = 'jwt',
  clients = [],
  nonces = false,
  refresh = false,
}) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const provider = new Provider(url, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'one' }] },
    clients: [
      {
        client_id: 'gateway',
        client_secret: 'secret-of-the-gateway',
        grant_types: [],
        redirect_uris: [],
        response_types: [],
      },
      ...clients,
    ],
    scopes: ['openid', 'offline_access', 'mcp'],
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_context, token) => ({
      groups: it.groups[token.accountId ?? ''] ?? [],
    }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['a-key-of-the-tests'] },
    pkce: { required: () => true },
    responseTypes: ['code'],
    ...(refresh ? { issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token') } : {}),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      clientCredentials: { enabled: true },
      dPoP: {
        enabled: true,
        ...(nonces ? { nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true } : {}),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, indicator) => ({
          scope: 'mcp',
          audience: indicator,
          accessTokenTTL: it.accessSeconds,
          accessTokenFormat: format,
          ...(format === 'jwt' ? { jwt: { sign: { alg: 'RS256' } } } : {}),
        }),
      },
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (request.url === '/token') {
      let form = '';
      request.on('data', (chunk) => (form += chunk));
      response.on('finish', () =>
        it.tokenRequests.push({
          form: new URLSearchParams(form),
          proof: request.headers.dpop,
          status: response.statusCode,
        }),
      );
    }
    if (!request.url?.startsWith('/interaction/')) {
      void handle(request, response);
      return;
    }
    void (async () => {
      const { prompt, params, session } = await provider.interactionDetails(request, response);
      if (prompt.name === 'login') {
        await provider.interactionFinished(request, response, { login: { accountId: it.user } });
        return;
      }
      const grant = new provider.Grant({
        accountId: session.accountId,
        clientId: params.client_id,
      });
      grant.addOIDCScope('openid offline_access mcp');
      grant.addResourceScope(resource, 'mcp');
      await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
    })();
  });
  const it = {
    url,
    user: 'alice',
    groups: {},
    accessSeconds: 600,
    tokenRequests: [],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return it;
}
