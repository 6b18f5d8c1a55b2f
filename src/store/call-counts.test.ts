import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../shared/log.ts';
import { NO_REDIS, StoreServer } from '../../test/helpers/store-server.ts';
import { until } from '../../test/helpers/until.ts';
import { openStore, type SharedCallCounts, type Store } from './index.ts';

async function open({ url }: StoreServer): Promise<{ store: Store; counts: SharedCallCounts }> {
  const log = createLogger({ level: 'silent', program: 'test', write: () => undefined });
  const store = await openStore({ url, group: 'test', log });
  onTestFinished(() => store.close());
  return { store, counts: store.callCounts() };
}

describe.skipIf(NO_REDIS !== undefined)(`shared counts of calls${NO_REDIS ? ` (${NO_REDIS})` : ''}`, () => {
  test('admit as many calls in a minute as are allowed, however many gateways ask at once', async () => {
    const server = await StoreServer.start();
    const gateways = await Promise.all([open(server), open(server), open(server)]);
    const limits = { callsPerMinute: 10 };
    const begin = (at: number) => gateways[at % 3]!.counts.begin('ann', 1, limits);
    const said = await Promise.all(Array.from({ length: 40 }, (_, at) => begin(at)));
    expect(said.filter((refusal) => refusal === undefined)).toHaveLength(10);
    const refused = said.find((refusal) => refusal !== undefined) as { waitMs: number };
    expect(refused.waitMs).toBeGreaterThan(50_000);
    expect(refused.waitMs).toBeLessThanOrEqual(60_000);
    expect(await gateways[0].counts.begin('bob', 1, limits)).toBeUndefined();
  });

  test('admit as many calls at one time, and others when one has ended', async () => {
    const server = await StoreServer.start();
    const [one, other] = await Promise.all([open(server), open(server)]);
    const limits = { concurrentCalls: 2 };
    expect(await one.counts.begin('ann', 1, limits)).toBeUndefined();
    expect(await other.counts.begin('ann', 1, limits)).toBeUndefined();
    expect(await one.counts.begin('ann', 2, limits)).toBe('running');
    expect(await other.counts.begin('ann', 2, limits)).toBe('running');
    one.counts.set('ann', 1);
    expect(await one.counts.begin('ann', 2, limits)).toBe('running');
    other.counts.set('ann', 0);
    await until(async () => (await one.counts.begin('ann', 2, limits)) === undefined);
  });

  test('learn of running calls again after the store has forgotten them, and forget those of a lost gateway', async () => {
    const server = await StoreServer.start();
    const [one, other] = await Promise.all([open(server), open(server)]);
    const limits = { concurrentCalls: 1 };
    expect(await one.counts.begin('ann', 1, limits)).toBeUndefined();
    await server.stop();
    await expect(other.counts.begin('ann', 1, limits)).rejects.toMatchObject({ code: 'STORE_AWAY' });
    await server.start();
    await until(() => one.store.reachableFor !== undefined && other.store.reachableFor !== undefined);
    // Refused calls do not count as running.
    await until(async () => (await other.counts.begin('ann', 1, limits)) === 'running');
    one.store.close();
    await until(async () => (await other.counts.begin('ann', 1, limits)) === undefined, {
      what: 'the calls of the lost gateway to be forgotten',
      deadline: 20_000,
    });
  });
});
