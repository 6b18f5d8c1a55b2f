import { expect, test } from 'vitest';
import { isLoopback, readHttpAddress } from './serve-http.ts';

test.each([
  ['', { host: '127.0.0.1', port: 3006 }],
  ['4000', { host: '127.0.0.1', port: 4000 }],
  ['0', { host: '127.0.0.1', port: 0 }],
  ['localhost:80', { host: 'localhost', port: 80 }],
  ['[::1]:3006', { host: '::1', port: 3006 }],
  ['0.0.0.0:65535', { host: '0.0.0.0', port: 65535 }],
])('reads %j', (text, address) => {
  expect(readHttpAddress(text)).toEqual(address);
});

test.each(['x', '70000', ':80', '::1:80', 'host:', '-1', '3006 ', '1.5', 'host:http'])(
  'refuses %j',
  (text) => {
    expect(() => readHttpAddress(text)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  },
);

test('an address of the web is refused with the right form of it', () => {
  expect(() => readHttpAddress('http://127.0.0.1:3006/mcp')).toThrow(
    expect.objectContaining({
      code: 'USAGE',
      explained: '--http takes the address without "http://". Write --http 127.0.0.1:3006.',
    }),
  );
  expect(() => readHttpAddress('HTTPS://', 'PORT')).toThrow(
    expect.objectContaining({ hint: 'Write PORT=3006.' }),
  );
});

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['localhost', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.evil.example', false],
  ['192.168.0.1', false],
])('%s is loopback: %s', (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});
