import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { loadCrypto } from '../../shared/load-crypto.ts';
import { accessTokens } from './door.cases.ts';
import { Guard } from './guard.ts';

test('what was accepted on a connection is not digested again there, and anything else is', () => {
  const guard = new Guard({ tokens: accessTokens('right'), allowedHosts: [], allowedOrigins: [] });
  const check = (socket: Socket, authorization: string) =>
    guard.callerOf({
      url: '/mcp',
      rawHeaders: [],
      headers: { host: 'localhost', authorization },
      socket,
    } as unknown as IncomingMessage);
  const createHash = vi.spyOn(loadCrypto(), 'createHash');
  const digested = (): number => createHash.mock.calls.length;
  const [one, two] = [new Socket(), new Socket()];
  expect(check(one, 'Bearer wrong')).toMatchObject({ status: 401 });
  expect(check(one, 'Bearer right')).toMatchObject({ principal: 'of right' });
  const before = digested();
  expect(check(one, 'Bearer right')).toMatchObject({ principal: 'of right' });
  expect(digested()).toBe(before);
  expect(check(one, 'Bearer wrong')).toMatchObject({ status: 401 });
  expect(check(two, 'Bearer wrong')).toMatchObject({ status: 401 });
  expect(check(two, 'Bearer right')).toMatchObject({ principal: 'of right' });
  expect(digested()).toBe(before + 3);
});
