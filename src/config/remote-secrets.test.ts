import { expect, test } from 'vitest';
import { remoteSecrets } from './remote-secrets.ts';

const plain = { url: 'https://x.test/mcp', written: { url: 'https://x.test/mcp' }, headers: {}, oauth: {} };

test('a public address is no secret', () => {
  expect(remoteSecrets(plain)).toEqual([]);
  expect(remoteSecrets({ ...plain, oauth: false })).toEqual([]);
});

test('values of headers are, whole and without the word before them, and the secret of a login', () => {
  const headers = { Authorization: 'Bearer abc', 'X-Key': 'def' };
  expect(remoteSecrets({ ...plain, headers, oauth: { clientId: 'me', clientSecret: 'ghi' } })).toEqual([
    ...['Bearer abc', 'abc', 'def', 'def'],
    'ghi',
  ]);
});

test('so are those of a service', () => {
  const identityProvider = { tokenEndpoint: 'https://id.test', clientId: 'us', clientSecret: 'idp-secret' };
  const oauth = { privateKey: 'pem', assertion: 'jwt', identityProvider };
  expect(remoteSecrets({ ...plain, oauth })).toEqual(['pem', 'jwt', 'idp-secret']);
});

test('so is what an address does not show', () => {
  const url = 'https://x.test/s/key-in-the-path/mcp?region=eu&key=in-the-query';
  const written = { url: 'https://x.test/s/***/mcp?region=***&key=***' };
  expect(remoteSecrets({ ...plain, url, written })).toEqual([url, 'eu', 'in-the-query', 'key-in-the-path']);
});
