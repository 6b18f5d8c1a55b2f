import { expect, test } from 'vitest';
import { createAddressGuard, reachOf } from './addresses.ts';

const resolver =
  (names: Readonly<Record<string, readonly string[]>>) =>
  (hostname: string): Promise<{ address: string; family: number }[]> => {
    const found = names[hostname];
    if (found === undefined) return Promise.reject(new Error(`ENOTFOUND ${hostname}`));
    return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };

const DNS = resolver({
  'mcp.example.com': ['203.0.113.7'],
  'login.example.com': ['203.0.113.8'],
  'sneaky.example.com': ['127.0.0.1'],
  'sneaky6.example.com': ['::ffff:169.254.169.254'],
  'half.example.com': ['203.0.113.9', '10.0.0.1'],
  'mcp.corp': ['10.1.2.3'],
  'sso.corp': ['10.1.2.4'],
  localhost: ['127.0.0.1', '::1'],
});

const guard = (typed: string) => createAddressGuard(new URL(typed), DNS);
const refused = expect.objectContaining({ code: 'ADDRESS_REFUSED' });

test.each([
  ['127.0.0.1', 'loopback'],
  ['127.255.0.3', 'loopback'],
  ['0.0.0.0', 'loopback'],
  ['::1', 'loopback'],
  ['::', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['0:0:0:0:0:ffff:7f00:0001', 'loopback'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['2002:7f00:1::', 'loopback'],
  ['::127.0.0.1', 'loopback'],
  ['::5', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['::ffff:169.254.169.254', 'link-local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['10.0.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['fd00::1', 'private'],
  ['224.0.0.1', 'nowhere'],
  ['ff02::1', 'nowhere'],
  ['not an address', 'nowhere'],
  ['172.32.0.1', 'public'],
  ['8.8.8.8', 'public'],
  ['2606:4700::1111', 'public'],
  ['::ffff:8.8.8.8', 'public'],
])('%s is %s', (address, reach) => {
  expect(reachOf(address)).toBe(reach);
});

test.each([
  'https://127.0.0.1/x',
  'https://127.1/x',
  'https://2130706433/x',
  'https://0x7f000001/x',
  'https://0177.0.0.1/x',
  'https://[::1]/x',
  'https://[::ffff:127.0.0.1]/x',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/x',
  'https://[fd00::1]/x',
  'https://localhost/x',
  'https://localhost./x',
  'https://sneaky.example.com/x',
  'https://sneaky6.example.com/x',
  'https://sso.corp/x',
  'https://user:word@login.example.com/x',
  'http://login.example.com/x',
  'http://127.0.0.1/x',
  'ftp://login.example.com/x',
  'file:///etc/passwd',
])('a public server cannot lead a login to %s', async (url) => {
  const guarding = guard('https://mcp.example.com/mcp');
  await expect(guarding.checkDocument(new URL(url))).rejects.toEqual(refused);
  await expect(guarding.checkEndpoint(new URL(url))).rejects.toEqual(refused);
});

test('a public server may lead it to another public one, and to itself', async () => {
  const guarding = guard('https://mcp.example.com/mcp');
  await guarding.checkDocument(new URL('https://login.example.com/x'));
  await guarding.checkEndpoint(new URL('https://login.example.com/x'));
  await guarding.checkEndpoint(new URL('https://mcp.example.com/x'));
  await guarding.checkEndpoint(new URL('https://not-there.example.com/x'));
});

test('of the addresses of a name only those are used that may be', async () => {
  const guarding = guard('https://mcp.example.com/mcp');
  expect(await guarding.resolve('half.example.com')).toEqual([{ address: '203.0.113.9', family: 4 }]);
  await expect(guarding.resolve('sneaky.example.com')).rejects.toEqual(refused);
});

test('from this machine, typed as such, everything on it and near it may be reached, also without https', async () => {
  for (const typed of ['http://127.0.0.1:9/mcp', 'http://localhost:9/mcp', 'http://[::1]:9/mcp']) {
    const guarding = guard(typed);
    await guarding.checkEndpoint(new URL('http://127.0.0.1:8/token'));
    await guarding.checkEndpoint(new URL('http://localhost:8/token'));
    await guarding.checkEndpoint(new URL('https://sso.corp/token'));
    await expect(guarding.checkEndpoint(new URL('http://sso.corp/token'))).rejects.toEqual(refused);
    await expect(guarding.checkEndpoint(new URL('https://169.254.169.254/'))).rejects.toEqual(refused);
  }
});

test('a company server may lead to its neighbour, but not to this machine', async () => {
  const guarding = guard('https://mcp.corp/mcp');
  await guarding.checkEndpoint(new URL('https://sso.corp/token'));
  await guarding.checkEndpoint(new URL('https://mcp.corp/token'));
  await expect(guarding.checkEndpoint(new URL('https://127.0.0.1/token'))).rejects.toEqual(refused);
});

test('a name that leads to this machine does not make it typed', async () => {
  const guarding = guard('https://sneaky.example.com/mcp');
  await expect(guarding.checkEndpoint(new URL('https://127.0.0.1/token'))).rejects.toEqual(refused);
  await expect(guarding.checkEndpoint(new URL('http://127.0.0.1/token'))).rejects.toEqual(refused);
});

test('a server typed without https may be read, but gets no secrets', async () => {
  const guarding = guard('http://10.0.0.5/mcp');
  await guarding.checkDocument(new URL('http://10.0.0.5/.well-known/oauth-protected-resource'));
  await expect(guarding.checkEndpoint(new URL('http://10.0.0.5/token'))).rejects.toEqual(refused);
  await expect(guarding.checkDocument(new URL('http://10.0.0.5:81/x'))).rejects.toEqual(refused);
});

test('an address without a host is named by its kind', async () => {
  const guarding = guard('https://mcp.example.com/mcp');
  const message = 'The server points the login to a file: address, which is not https.';
  await expect(guarding.checkEndpoint(new URL('file:///etc/passwd'))).rejects.toMatchObject({ message });
  await expect(guarding.checkDocument(new URL('file:///etc/passwd'))).rejects.toMatchObject({ message });
});
