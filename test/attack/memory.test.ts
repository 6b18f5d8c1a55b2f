/**
 * What a client sent is forgotten once it is answered: clients of every protocol version send far more than the gateway
 * may hold.
 */
import { expect, test } from 'vitest';
import { MODERN, ModernCaller } from '../helpers/eras.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway, type HttpGateway } from '../helpers/http-gateway.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { rss } from '../helpers/resources.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CALLS = 500;
const GIVEN_UP = 200;
const MEGABYTE = 1_000_000;
/** A collection of garbage may be due; all requests together would be eight times as much. In MB. */
const MOST = 64;

type Call = (args: object) => Promise<RpcMessage>;

const bytesIn = (text: string): object => ({ action: 'call', subtool: 'echo', args: { text } });

/** One call of a client that comes for it and goes again. */
const CLIENTS: Readonly<Record<string, (gateway: HttpGateway) => Call>> = {
  [`${MODERN}, one connection after the other`]: (gateway) => {
    const caller = ModernCaller.overHttp(gateway);
    return (args) => caller.call('echo_suite', args);
  },
  '2025-11-25, one session after the other': (gateway) => async (args) => {
    const session = await HttpSession.open(gateway, { version: '2025-11-25' });
    const answer = await session.call('echo_suite', args);
    expect(await session.end()).toBe(204);
    return answer;
  },
  '2025-11-25, one session for all': (gateway) => {
    const session = HttpSession.open(gateway, { version: '2025-11-25' });
    return async (args) => (await session).call('echo_suite', args);
  },
};

test.each(Object.entries(CLIENTS))(
  `${CALLS} calls of 1 MB at a shared server are not kept: %s`,
  async (_name, connect) => {
    const gateway = await startHttpGateway({ echo: { ...nodeServer('echo'), isolation: 'shared' } });
    const call = connect(gateway);
    const send = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        const text = `${n} `.padEnd(MEGABYTE, 'x');
        expect(textOf(await call(bytesIn(text))).length).toBe(MEGABYTE);
      }
    };
    await send(100);
    const before = rss(gateway.pid);
    await send(CALLS);
    expect(rss(gateway.pid) - before).toBeLessThan(MOST);
  },
);

test(`${CALLS} calls of 1 MB that become tasks are not kept`, async () => {
  const gateway = await startHttpGateway({ tasks: { ...nodeServer('tasks'), isolation: 'shared' } });
  const caller = ModernCaller.overHttp(gateway);
  const start = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const args = { task: `task ${n}`, ttl: 3_600_000, filler: 'x'.repeat(MEGABYTE) };
      await caller.call('tasks_suite', { action: 'call', subtool: 'job', args });
    }
  };
  await start(100);
  const before = rss(gateway.pid);
  await start(CALLS);
  expect(rss(gateway.pid) - before).toBeLessThan(MOST);
});

test(`${GIVEN_UP} calls of 1 MB that their clients give up are not kept`, async () => {
  const gateway = await startHttpGateway({ slow: { ...nodeServer('slow'), isolation: 'shared' } });
  const caller = ModernCaller.overHttp(gateway);
  const count = async (tool: string): Promise<number> =>
    Number(textOf(await caller.call('slow_suite', { action: 'call', subtool: tool })));
  /** Sends calls that are never answered, and leaves once they have reached the server. */
  const giveUp = async (calls: number): Promise<void> => {
    const cancelled = await count('cancelled_count');
    for (let n = 0; n < calls; n++) {
      const leaving = new AbortController();
      const hanging = ModernCaller.overHttp(gateway, { signal: leaving.signal });
      const args = { action: 'call', subtool: 'hang', args: { filler: 'x'.repeat(MEGABYTE) } };
      const call = hanging.call('slow_suite', args).catch(() => undefined);
      await until(async () => (await count('running_count')) > 0, { what: 'the call to reach the server' });
      leaving.abort();
      await call;
      await until(async () => (await count('cancelled_count')) > cancelled + n, { what: 'its cancellation' });
    }
  };
  await giveUp(20);
  const before = rss(gateway.pid);
  await giveUp(GIVEN_UP);
  expect(rss(gateway.pid) - before).toBeLessThan(MOST);
});
