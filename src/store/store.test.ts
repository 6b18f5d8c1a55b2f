import { describe, expect, onTestFinished, test } from 'vitest';
import { messageOf } from '../shared/errors.ts';
import { createLogger } from '../shared/log.ts';
import { NO_REDIS, StoreServer } from '../../test/helpers/store-server.ts';
import { until } from '../../test/helpers/until.ts';
import { openStore, Sequence, type Store } from './index.ts';

async function open(
  { url }: { readonly url: string },
  group = 'test',
): Promise<{ store: Store; lines: string[] }> {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', program: 'test', write: (line) => lines.push(line) });
  const store = await openStore({ url, group, log });
  onTestFinished(() => store.close());
  return { store, lines };
}

describe.skipIf(NO_REDIS !== undefined)(`a store${NO_REDIS ? ` (${NO_REDIS})` : ''}`, () => {
  test('keeps texts for a limited time, for one group', async () => {
    const server = await StoreServer.start();
    const { store } = await open(server);
    const { store: other } = await open(server, 'other');
    await store.set('a', 'one', 60_000);
    expect(await store.getMany(['a', 'b'])).toEqual(['one', undefined]);
    expect(await other.get('a')).toBeUndefined();
    await store.set('a', 'short', 1);
    await until(async () => (await store.get('a')) === undefined);
    await store.set('c', 'x', 60_000);
    await store.delete('c');
    expect(await store.get('c')).toBeUndefined();
  });

  test('replaces what is as it was expected, and nothing else', async () => {
    const { store } = await open(await StoreServer.start());
    expect(await store.replace('a', undefined, 'one', 60_000)).toBe(true);
    expect(await store.replace('a', undefined, 'two', 60_000)).toBe(false);
    expect(await store.replace('a', 'one', 'two', 60_000)).toBe(true);
    expect(await store.get('a')).toBe('two');
  });

  test('counts, and begins again after the time', async () => {
    const { store } = await open(await StoreServer.start());
    expect([await store.add('n', 2, 60_000), await store.add('n', 3, 60_000)]).toEqual([2, 5]);
    await store.add('short', 1, 1);
    await until(async () => (await store.add('short', 1, 1)) === 1);
  });

  test('gives each number once, also after it has forgotten them', async () => {
    const server = await StoreServer.start();
    const stores = await Promise.all([open(server), open(server)]);
    const sequences = stores.map(({ store }) => new Sequence(store, 'n'));
    const take = (): Promise<(number | undefined)[]> =>
      Promise.all(Array.from({ length: 500 }, (_, at) => sequences[at % 2]!.next()));
    const before = await take();
    await server.stop();
    await server.start();
    for (const { store } of stores) await until(() => store.reachableFor);
    const numbers = [...before, ...(await take())];
    expect(numbers).not.toContain(undefined);
    expect(new Set(numbers).size).toBe(1000);
  });

  test('fails at once while it is away, says so once, and is used again by itself', async () => {
    const server = await StoreServer.start();
    const { store, lines } = await open(server);
    await server.stop();
    await until(() => store.reachableFor === undefined);
    await expect(store.get('a')).rejects.toMatchObject({ code: 'STORE_AWAY' });
    await server.start();
    await until(() => store.reachableFor);
    await store.set('a', 'back', 60_000);
    expect(lines.map((line) => line.replace(/ reason=.*/s, '').trim())).toEqual([
      'test info  connected to the store',
      'test warn  the store is away: other replicas may not be found, and what they share may be old',
      'test info  the store is reachable again',
    ]);
  });

  test('a password opens it, and a wrong one is not told to anybody', async () => {
    const { port } = await StoreServer.start('--requirepass', 'right/word');
    const { store } = await open({ url: `redis://:right%2Fword@127.0.0.1:${port}` });
    await store.set('a', 'x', 60_000);
    const { store: refused, lines } = await open({ url: `redis://:wrong-word@127.0.0.1:${port}` });
    const error: unknown = await refused.get('a').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'STORE_AWAY' });
    expect(lines.join('')).toContain('WRONGPASS');
    expect(`${lines.join('')} ${messageOf(error)}`).not.toContain('wrong-word');
  });

  test('one that does not answer fails commands instead of holding them up', async () => {
    const server = await StoreServer.start();
    const { store } = await open(server);
    server.signal('SIGSTOP');
    await expect(store.get('a')).rejects.toMatchObject({ code: 'STORE_AWAY' });
    server.signal('SIGCONT');
    await until(async () => (await store.set('a', 'x', 60_000).catch(() => 'away')) === undefined);
  });
});
