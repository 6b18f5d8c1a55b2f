import { expect, test } from 'vitest';
import { documentSecrets, literalSecrets } from './entry-secrets.ts';
import { cheapestMs } from '../../test/helpers/cheapest.ts';

const KEY = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4';

test('keys in the path of an address and passwords in it are secrets', () => {
  expect(documentSecrets({ args: [`https://host.example/v1/${KEY}/sse?x=1`] })).toEqual([KEY]);
  expect(documentSecrets({ args: ['postgres://me:hunter2@host/db'] })).toEqual(['hunter2']);
});

test.each([
  ['schemes', 'a-'.repeat(128 * 1024)],
  ['parts of a path', `https://host${'/a'.repeat(128 * 1024)}`],
])('a hostile text of 256 KiB is read in time: %s', (_, text) => {
  expect(
    cheapestMs(500, () => {
      expect(documentSecrets({ args: [text] })).toEqual([]);
    }),
  ).toBeLessThan(500);
});

test('a secret with a reference in it is one, unlike a reference alone', () => {
  const server = {
    args: ['--token', 'a${B}c', '--api-key=d${E}', '--token=${F}'],
    env: { X: 'g${H}', Y: '${I}', Z: 'Bearer ${J}' },
  };
  expect(documentSecrets({ mcpServers: { server } })).toEqual(['a${B}c', 'd${E}', 'g${H}']);
});

test('a secret for the identity provider of a login is one, with a variable of its own', () => {
  const identityProvider = {
    tokenEndpoint: 'https://id.example.com/token',
    clientSecret: 'hunter2-of-the-provider',
  };
  const oauth = { clientSecret: 'hunter2-of-the-issuer', identityProvider };
  expect(literalSecrets({ url: 'https://mcp.example.com', oauth }, 'shop')).toEqual([
    { where: 'oauth.clientSecret', variable: 'SHOP_CLIENT_SECRET' },
    { where: 'oauth.identityProvider.clientSecret', variable: 'SHOP_IDENTITY_PROVIDER_CLIENT_SECRET' },
  ]);
});
