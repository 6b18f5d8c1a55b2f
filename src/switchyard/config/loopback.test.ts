import { expect, it } from 'vitest';
import { asLoopback, connectHost, LOOPBACK_HOSTS } from './loopback.ts';

it('takes the three names of this machine, with blanks around them', () => {
  for (const host of LOOPBACK_HOSTS) expect(asLoopback(` ${host} `)).toBe(host);
});

it('takes nothing else, however close', () => {
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

it('never asks anybody what localhost means', () => {
  expect(LOOPBACK_HOSTS.map(connectHost)).toEqual(['127.0.0.1', '127.0.0.1', '::1']);
});
