import { expect, it } from 'vitest';
import { asLoopback, connectHost, LOOPBACK_HOSTS } from './loopback.ts';

it('accepts the three loopback hosts, with surrounding spaces', () => {
  for (const host of LOOPBACK_HOSTS) expect(asLoopback(` ${host} `)).toBe(host);
});

it('accepts nothing else, however similar', () => {
  for (const host of [
    '',
    '0.0.0.0',
    '::',
    '127.0.0.2',
    'localhost.',
    'LOCALHOST',
    '[::1]',
    '127.0.0.1:80',
    '10.0.0.1',
  ]) {
    expect(asLoopback(host), host).toBeUndefined();
  }
});

it('never resolves localhost', () => {
  expect(LOOPBACK_HOSTS.map(connectHost)).toEqual(['127.0.0.1', '127.0.0.1', '::1']);
});
