/** What `checkout` and `uncheckout` of the built `switchyard` say they have done: exit code, JSON, over MCP. */
import { expect, test } from 'vitest';
import type { Era } from '../helpers/eras.ts';
import { agentYard, speaker } from '../helpers/yard-agent.ts';
import { createShop, occupy } from '../helpers/yard-shop.ts';

test('a checkout that failed in part exits with 1 and is not ok', async () => {
  const shop = await createShop({
    services: { web: 'web', api: 'web' },
    ports: [25_900, 25_949],
    branches: ['next'],
  });
  const outcome = async (...args: string[]): Promise<unknown> => {
    const { code, json } = await shop.run([...args, '--json']);
    expect(json.ok).toBe(code === 0);
    return { code, messages: json.messages };
  };
  const { web, api } = shop.canonical as { web: number; api: number };
  const nothing = 'no matching running services to checkout';
  expect(await outcome('checkout', 'main')).toEqual({ code: 1, messages: [nothing] });
  expect(await outcome('checkout', 'mian')).toMatchObject({
    code: 1,
    messages: [nothing, expect.anything()],
  });
  const { server } = await occupy(api);
  // The services run, but not all of what was asked for was done.
  expect(await outcome('up', 'main', '--checkout')).toMatchObject({
    code: 1,
    messages: expect.arrayContaining([
      expect.stringContaining(`checked out web: localhost:${web} -> :`),
      expect.stringContaining(`api cannot bind canonical port ${api}; pid ${process.pid} (`),
    ]),
  });
  expect(await outcome('checkout', 'main', 'api')).toMatchObject({ code: 1 });
  expect(await outcome('checkout', 'main')).toMatchObject({ code: 1 });
  expect(await outcome('checkout', 'main', 'web', 'nothing')).toMatchObject({ code: 1 });
  // What leads there already is as it should be.
  expect(await outcome('checkout', 'main', 'web')).toEqual({
    code: 0,
    messages: [`web checkout already running on canonical port ${web}`],
  });
  expect(await outcome('checkout', 'main', 'web', '--verify')).toMatchObject({ code: 0 });
  await new Promise((resolve) => server.close(resolve));
  expect(await outcome('checkout', 'main')).toMatchObject({ code: 0 });

  // The first word of uncheckout may be a branch, a service, or a branch and then a service.
  await shop.ask('up', 'next');
  await shop.ask('checkout', 'next', 'api');
  const gone = (service: string, port: number) => `unchecked ${service} from canonical port ${port}`;
  expect(await outcome('uncheckout', 'next', 'web')).toEqual({
    code: 0,
    messages: ['no matching checkouts'],
  });
  expect(await outcome('uncheckout', 'next')).toEqual({ code: 0, messages: [gone('api', api)] });
  await shop.ask('checkout', 'next', 'api');
  expect(await outcome('uncheckout', 'main', 'web')).toEqual({ code: 0, messages: [gone('web', web)] });
  expect(await outcome('uncheckout', 'api')).toEqual({ code: 0, messages: [gone('api', api)] });
  expect(await outcome('uncheckout', 'nxet')).toMatchObject({ code: 2 });
});

test.each<Era>(['legacy', 'modern'])(
  '%s: isError tells an agent that a checkout has done nothing',
  async (era) => {
    const yard = await agentYard();
    const agent = yard.agent();
    if (era === 'legacy') await agent.initialize();
    const { call } = speaker(agent, era);
    const failed = await call('checkout', { branch: 'main' });
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { messages: ['no matching running services to checkout'] },
    });
    await yard.ask('up');
    const done = await call('checkout', { branch: 'main' });
    expect(done.isError).not.toBe(true);
    const again = await call('checkout', { branch: 'main' });
    expect(again.isError).not.toBe(true);
  },
);
