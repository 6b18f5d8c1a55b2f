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
  ['::ffff:0:127.0.0.1', 'loopback'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::169.254.169.254', 'link-local'],
  ['64:ff9b::8.8.8.8', 'public'],
  ['64:ff9b:1::8.8.8.8', 'private'],
  ['64:ff9b:1:ffff::1', 'private'],
  ['64:ff9b:2::1', 'public'],
  ['2001::1', 'nowhere'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'nowhere'],
  ['2001:1::1', 'public'],
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
  'https://login.localhost/x',
  'https://a.b.localhost./x',
  'https://half.example.com/x',
  'https://[64:ff9b:1::1]/x',
  'https://[2001:0:4136:e378::1]/x',
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

test('a name with one address that may not be used is not used at all', async () => {
  const guarding = guard('https://mcp.example.com/mcp');
  await expect(guarding.resolve('half.example.com')).rejects.toEqual(refused);
  await expect(guarding.resolve('sneaky.example.com')).rejects.toEqual(refused);
  await expect(guarding.resolve('login.localhost.')).rejects.toEqual(refused);
  expect(await guarding.resolve('login.example.com')).toEqual([{ address: '203.0.113.8', family: 4 }]);
});

test('the typed server itself must stay where it was', async () => {
  const names: Record<string, string[]> = { 'mcp.example.com': ['203.0.113.7'] };
  const guarding = createAddressGuard(new URL('https://mcp.example.com/mcp'), (host) =>
    resolver(names)(host),
  );
  expect(await guarding.resolve('mcp.example.com')).toHaveLength(1);
  names['mcp.example.com'] = ['203.0.113.8', '203.0.113.9'];
  expect(await guarding.resolve('mcp.example.com')).toHaveLength(2);
  for (const changed of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1']) {
    names['mcp.example.com'] = ['203.0.113.7', changed];
    await expect(guarding.resolve('mcp.example.com')).rejects.toEqual(refused);
    await expect(guarding.checkDocument(new URL('https://mcp.example.com/x'))).rejects.toEqual(refused);
  }
});

test('a typed server may be anywhere, but only in one network', async () => {
  for (const [addresses, count] of [
    [['10.0.0.1', 'fd00::1'], 2],
    [['127.0.0.1', '::1'], 2],
    [['203.0.113.7', '10.0.0.1'], 0],
    [['203.0.113.7', '127.0.0.1'], 0],
  ] as const) {
    const guarding = createAddressGuard(
      new URL('https://mcp.example.com/mcp'),
      resolver({ 'mcp.example.com': addresses }),
    );
    const found = await guarding.resolve('mcp.example.com').catch((error: unknown) => error);
    if (count > 0) expect(found).toHaveLength(count);
    else expect(found).toEqual(refused);
  }
});

test('a typed server that is not found at first is judged when it is found', async () => {
  const names: Record<string, string[]> = {};
  const guarding = createAddressGuard(new URL('https://mcp.corp/mcp'), (host) => resolver(names)(host));
  await guarding.checkDocument(new URL('https://mcp.corp/x'));
  names['mcp.corp'] = ['10.1.2.3'];
  expect(await guarding.resolve('mcp.corp')).toHaveLength(1);
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
