import { expect, test } from 'vitest';
import { testYard } from '../../../../test/helpers/yard-home.ts';
import { hostOf, openRoutes } from './routes.ts';

test('the host is the name in the header, in lower case, without port and trailing dot', () => {
  expect(hostOf('Web.Main.shop.localhost:7331')).toBe('web.main.shop.localhost');
  expect(hostOf('web.main.shop.localhost.')).toBe('web.main.shop.localhost');
  expect(hostOf('[::1]:7331')).toBe('[::1]');
  for (const header of [
    undefined,
    '',
    '.',
    'a..b',
    'a b',
    'a,b',
    'a@b',
    'a/b',
    'a:b',
    'a:1:2',
    '::1',
    'ä',
    'a\tb',
  ]) {
    expect(hostOf(header)).toBeUndefined();
  }
});

test('if two projects have a service of the same name, the one started last has it', async () => {
  const yard = await testYard();
  const { registry, home } = yard.context;
  const twin = await testYard(undefined, home.root);
  await yard.record({ port: 1001, started_at: '2026-01-01T00:00:01+00:00' });
  await twin.record({ port: 1002, started_at: '2026-01-01T00:00:02+00:00' });
  const routes = openRoutes(registry);
  expect(routes.find('web.main.shop.localhost')?.port).toBe(1002);
  await yard.record({ port: 1003, started_at: '2026-01-01T00:00:03+00:00' });
  expect(routes.find('web.main.shop.localhost')?.port).toBe(1003);
});

test('names below localhost and below configured domains are our own', async () => {
  const yard = await testYard();
  const routes = openRoutes(yard.context.registry);
  for (const host of ['localhost', '127.0.0.1', '[::1]', 'web.main.shop.localhost']) {
    expect(routes.isOwn(host)).toBe(true);
  }
  expect(routes.isOwn('web.main.shop.internal.test')).toBe(false);
  await yard.record({ port: 1, hostname: 'web.main.shop.internal.test' });
  expect(routes.isOwn('api.main.shop.internal.test')).toBe(true);
  for (const host of ['evil.test', 'xinternal.test', 'localhost.evil'])
    expect(routes.isOwn(host)).toBe(false);
});
