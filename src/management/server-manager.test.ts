import { expect, test } from 'vitest';
import { define, hold, refusal, running, settled, World } from './server-manager.cases.ts';

test('a server is listed while it starts, and has its tools when it is added', async () => {
  const world = new World();
  const start = hold();
  world.behave('a', { start: start.passed });
  const adding = world.manager.add(define('a'));
  await settled();
  expect(world.manager.list()).toMatchObject([{ state: { kind: 'starting' }, tools: [] }]);
  start.release();
  expect(await adding).toMatchObject({ state: { kind: 'running' }, tools: ['a__tool'] });
  expect(world.tools()).toEqual(['a__tool']);
});

test('what is done to one server is done in the order it was asked for', async () => {
  const world = new World();
  const start = hold();
  world.behave('a', { start: start.passed });
  const order: string[] = [];
  const note = (what: string) => () => void order.push(what);
  const adding = world.manager.add(define('a')).then(note('added'));
  await settled();
  const later = [
    world.manager.reload('a').then(note('reloaded')),
    world.manager.remove('a').then(note('removed')),
  ];
  await settled();
  expect(world.news()).toEqual(['a1 starts']);
  start.release();
  await Promise.all([adding, ...later]);
  expect(order).toEqual(['added', 'reloaded', 'removed']);
  expect(world.news()).toEqual(['a1 stops', 'a1 is gone', 'a2 starts', 'a2 stops', 'a2 is gone']);
  expect(world.names()).toEqual([]);
});

test('servers of different names do not wait for each other', async () => {
  const world = new World();
  const start = hold();
  world.behave('slow', { start: start.passed });
  const adding = world.manager.add(define('slow'));
  await world.manager.add(define('fast'));
  await world.manager.reload('fast');
  await world.manager.remove('fast');
  expect(world.news().filter((event) => event.startsWith('slow'))).toEqual(['slow1 starts']);
  start.release();
  await adding;
  expect(world.lives()).toEqual(['slow1']);
});

test('of two that add one name at the same moment one is told that it is taken, and one server starts', async () => {
  const world = new World();
  const results = await Promise.allSettled(
    [1, 2, 3].map(() => Promise.resolve().then(() => world.manager.add(define('a')))),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  for (const result of results.slice(1)) expect(result).toMatchObject({ reason: { code: 'SERVER_EXISTS' } });
  expect(world.news()).toEqual(['a1 starts']);
  expect(await refusal(() => world.manager.add(define('a')))).toBe('SERVER_EXISTS');
});

test('a name that is unknown is refused, with those nearest to it', async () => {
  const world = await running(define('alpha'));
  const attempts: (() => Promise<unknown>)[] = [
    () => world.manager.remove('alhpa'),
    () => world.manager.reload('alhpa'),
  ];
  for (const work of attempts) {
    expect(await refusal(work)).toBe('SERVER_UNKNOWN');
    await expect(Promise.resolve().then(work)).rejects.toMatchObject({ hint: 'Did you mean "alpha"?' });
  }
  expect(() => world.manager.definition('x')).toThrow(/No server named "x"/);
});

test('an add that fails leaves nothing, and nothing of what others did meanwhile is lost', async () => {
  const world = await running(define('old'));
  const start = hold();
  const fails = new Error('it would not start');
  world.behave('bad', { start: start.passed, fails });
  const adding = refusal(() => world.manager.add(define('bad')));
  await settled();
  await world.manager.add(define('new'));
  await world.manager.remove('old');
  start.release();
  expect(await adding).toBe(fails);
  expect(world.names()).toEqual(['new']);
  expect(world.tools()).toEqual(['new__tool']);
  expect(world.sources.filter(({ alive }) => alive).map(({ life }) => life)).toEqual(['new1']);
  expect(() => world.manager.definition('bad')).toThrow();
  world.behave('bad', {});
  await world.manager.add(define('bad'));
  expect(world.names()).toEqual(['new', 'bad']);
});

test('an add that fails by a bug of ours leaves nothing, either', async () => {
  const world = await running(define('old'));
  const breaks = new Error('a bug');
  world.behave('bad', { breaks });
  expect(await refusal(() => world.manager.add(define('bad')))).toBe(breaks);
  expect(world.names()).toEqual(['old']);
  world.behave('bad', {});
  expect(await refusal(() => world.manager.add(define('bad')))).toBeUndefined();
  expect(world.names()).toEqual(['old', 'bad']);
});

test('a removed server is listed no more before its end, gets the reason and time, and is gone when that resolves', async () => {
  const world = await running(define('a'), define('b'));
  const stop = hold();
  world.behave('a', { stop: stop.passed });
  let removed = false;
  const removing = world.manager.remove('a').then(() => (removed = true));
  await settled();
  expect(world.names()).toEqual(['b']);
  expect(world.tools()).toEqual(['b__tool']);
  expect(() => world.manager.definition('a')).toThrow();
  expect(world.news()).toEqual(['a1 stops']);
  expect(removed).toBe(false);
  // The name is free; the new one waits until the old one is gone.
  const adding = world.manager.add(define('a'));
  await settled();
  expect(world.news()).toEqual([]);
  stop.release();
  await removing;
  await adding;
  expect(world.news()).toEqual(['a1 is gone', 'a2 starts']);
  expect(world.sources[0]!.ending).toEqual({ reason: `Server 'a' was removed.`, drainMs: 1234 });
});

test('a reload starts the same definition, in its old place, when the old server is gone', async () => {
  const definition = define('b', { args: ['x'] });
  const world = await running(define('a'), definition, define('c'));
  const stop = hold();
  world.behave('b', { stop: stop.passed });
  const reloading = world.manager.reload('b');
  await settled();
  expect(world.lives()).toEqual(['a1', 'b2', 'c1']);
  expect(world.tools()).toEqual(['a__tool', 'c__tool']);
  expect(world.news()).toEqual(['b1 stops']);
  stop.release();
  const reloaded = await reloading;
  expect(reloaded.definition).toBe(definition);
  expect(reloaded).toMatchObject({ state: { kind: 'running' }, tools: ['b__tool'] });
  expect(world.news()).toEqual(['b1 is gone', 'b2 starts']);
  expect(world.sources.at(-1)!.definition).toBe(definition);
  expect(world.sources.find(({ life }) => life === 'b1')!.ending).toMatchObject({ drainMs: 1234 });
});

test('a reload that fails keeps the definition and the place; the next one may succeed', async () => {
  const definition = define('a', { env: { SECRET: 'kept' } });
  const world = await running(definition, define('b'));
  const fails = new Error('it would not start');
  world.behave('a', { fails });
  for (let round = 1; round <= 2; round++) {
    expect(await refusal(() => world.manager.reload('a'))).toBe(fails);
    expect(world.names()).toEqual(['a', 'b']);
    expect(world.manager.definition('a')).toBe(definition);
    expect(world.manager.list()[0]).toMatchObject({ state: { kind: 'crashed', error: fails }, tools: [] });
  }
  expect(await refusal(() => world.manager.add(define('a')))).toBe('SERVER_EXISTS');
  world.behave('a', {});
  expect(await world.manager.reload('a')).toMatchObject({ tools: ['a__tool'] });
  expect(world.sources.at(-1)!.definition).toBe(definition);
});

test('a failure is nobody else’s: what waits behind it goes on', async () => {
  const world = new World();
  world.behave('a', { fails: new Error('no') });
  const first = refusal(() => world.manager.add(define('a')));
  await settled();
  world.behave('a', {});
  await first;
  const [reloaded, added] = await Promise.all([
    refusal(() => world.manager.reload('a')),
    refusal(() => world.manager.add(define('a'))),
  ]);
  expect([reloaded, added]).toEqual(['SERVER_UNKNOWN', undefined]);
  expect(world.names()).toEqual(['a']);
});
