/**
 * Modern clients over HTTP and servers of the older era. Every request is an exchange of its own, and may be somebody
 * else's: whose question it is, is never guessed.
 */
import { expect, test } from 'vitest';
import { answersTo, ModernCaller } from '../../helpers/eras.ts';
import { startHttpGateway, type HttpGateway } from '../../helpers/http-gateway.ts';
import { waitUntilGone } from '../../helpers/processes.ts';
import { textOf, type RpcMessage } from '../../helpers/raw-client.ts';
import { nodeServer } from '../../helpers/temp-project.ts';
import { until } from '../../helpers/until.ts';

const FLAT = { exposure: 'flat', naming: 'prefixed' };

async function start(
  names: readonly string[] = ['left', 'right'],
  config: object = {},
): Promise<HttpGateway> {
  const servers = Object.fromEntries(names.map((name) => [name, nodeServer('asking', `--name=${name}`)]));
  const gateway = await startHttpGateway(servers, { config: { ...FLAT, ...config } });
  const client = ModernCaller.overHttp(gateway);
  await until(
    async () => {
      const { result } = await client.request('tools/list');
      const tools: string[] = result.tools.map(({ name }: any) => name);
      return names.every((name) => tools.includes(`${name}__ask_form`));
    },
    { what: 'the tools of all servers', deadline: 30_000 },
  );
  return gateway;
}

const parsedText = (answer: RpcMessage): any => {
  expect(answer.result?.resultType, JSON.stringify(answer).slice(0, 500)).toBe('complete');
  return JSON.parse(textOf(answer));
};

const cancellations = async (client: ModernCaller, server: string): Promise<number> =>
  parsedText(await client.call(`${server}__cancellations`)).length;

async function park(client: ModernCaller, server: string, args: object): Promise<RpcMessage> {
  const asked = await client.call(`${server}__ask_form`, args);
  expect(asked.result?.resultType, JSON.stringify(asked).slice(0, 500)).toBe('input_required');
  return asked;
}

test('a call waits between two exchanges, and the answer comes with the second', async () => {
  const client = ModernCaller.overHttp(await start());
  const args = { tag: '1' };
  const asked = await park(client, 'left', args);
  const answer = await client.back('left__ask_form', args, asked, answersTo(asked));
  expect(parsedText(answer).result).toEqual({ action: 'accept', content: { answer: 'green' } });
});

test('a question while two clients have calls at one server is refused, and the first client finds its own again', async () => {
  const gateway = await start();
  const [one, two] = [ModernCaller.overHttp(gateway), ModernCaller.overHttp(gateway)];
  const args = { tag: 'mine' };
  const asked = await park(one, 'left', args);
  const refused = parsedText(await two.call('left__ask_form', { tag: 'yours' }));
  expect(refused.error.message).toMatch(/which of several clients/);
  // At another server it is alone.
  const elsewhere = await two.whole('right__ask_form', { tag: 'yours' });
  expect(parsedText(elsewhere.answer)).toHaveProperty('result');
  const answer = await one.back('left__ask_form', args, asked, answersTo(asked));
  expect(parsedText(answer).result.action).toBe('accept');
});

test('a state without the token opens nothing', async () => {
  const gateway = await start();
  const client = ModernCaller.overHttp(gateway);
  const args = { tag: 'mine' };
  const asked = await park(client, 'left', args);
  const stranger = ModernCaller.overHttp({ url: gateway.url, token: 'wrong' });
  const refused = await stranger.back('left__ask_form', args, asked, answersTo(asked)).catch(() => undefined);
  expect(refused?.result).toBeUndefined();
  expect(parsedText(await client.back('left__ask_form', args, asked, answersTo(asked)))).toHaveProperty(
    'result',
  );
});

test('a client that closes the exchange cancels its call, in the first turn and in a later one', async () => {
  const gateway = await start();
  const client = ModernCaller.overHttp(gateway);
  const closing = new AbortController();
  const leaving = ModernCaller.overHttp(gateway, { signal: closing.signal });
  const hanging = leaving.call('left__hang').catch((error: unknown) => error);
  const args = { tag: 'late', workMs: 30_000 };
  const asked = await park(client, 'right', args);
  const working = leaving
    .back('right__ask_form', args, asked, answersTo(asked))
    .catch((error: unknown) => error);
  await until(async () => parsedText(await client.call('right__tally')).open === 0, {
    what: 'the answer to arrive',
  });
  await until(
    async () =>
      parsedText(await client.call('left__received')).filter((m: string) => m === 'tools/call').length > 1,
    { what: 'the call to arrive' },
  );
  closing.abort();
  await Promise.all([hanging, working]);
  for (const server of ['left', 'right'])
    await until(async () => (await cancellations(client, server)) === 1, { what: 'the cancellation' });
});

test('calls whose clients vanish are given up in time, and their servers are free again', async () => {
  const names = Array.from({ length: 6 }, (_, n) => `s${n}`);
  const gateway = await start(names, { timeouts: { callMaxMs: 3000 } });
  await Promise.all(names.map((name) => park(ModernCaller.overHttp(gateway), name, { tag: 'gone' })));
  const client = ModernCaller.overHttp(gateway);
  for (const name of names)
    await until(async () => (await cancellations(client, name)) === 1, { what: `${name} to hear of it` });
  for (const name of names)
    expect(parsedText((await client.whole(`${name}__ask_form`, { tag: 'next' })).answer)).toHaveProperty(
      'result',
    );
});

test('a gateway that is stopped does not wait for those who may come back, and leaves nothing', async () => {
  const gateway = await start();
  const client = ModernCaller.overHttp(gateway);
  await park(client, 'left', { tag: 'a' });
  await park(client, 'right', { tag: 'b' });
  const { code } = await gateway.stop();
  expect(code).toBe(0);
  await waitUntilGone(gateway.marker);
});
