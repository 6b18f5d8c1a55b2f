import { expect, test } from 'vitest';
import { SwitchboardError } from '../shared/errors.ts';
import { define, hold, refusal, startManager, settled, ManagerHarness } from './server-manager.cases.ts';

test('a server is listed while it starts, and has its tools when it is added', async () => {
  const harness = new ManagerHarness();
  const start = hold();
  harness.setBehavior('a', { start: start.passed });
  const adding = harness.manager.add(define('a'));
  await settled();
  expect(harness.manager.list()).toMatchObject([{ state: { kind: 'starting' }, tools: [] }]);
  start.release();
  expect(await adding).toMatchObject({ state: { kind: 'running' }, tools: ['a__tool'] });
  expect(harness.tools()).toEqual(['a__tool']);
});

test('operations on one server run in the order in which they were requested', async () => {
  const harness = new ManagerHarness();
  const start = hold();
  harness.setBehavior('a', { start: start.passed });
  const order: string[] = [];
  const note = (what: string) => () => void order.push(what);
  const adding = harness.manager.add(define('a')).then(note('added'));
  await settled();
  const later = [
    harness.manager.reload('a').then(note('reloaded')),
    harness.manager.remove('a').then(note('removed')),
  ];
  await settled();
  expect(harness.takeEvents()).toEqual(['a1 starts']);
  start.release();
  await Promise.all([adding, ...later]);
  expect(order).toEqual(['added', 'reloaded', 'removed']);
  expect(harness.takeEvents()).toEqual(['a2 starts', 'a1 stops', 'a1 is gone', 'a2 stops', 'a2 is gone']);
  expect(harness.names()).toEqual([]);
});

test('servers of different names do not wait for each other', async () => {
  const harness = new ManagerHarness();
  const start = hold();
  harness.setBehavior('slow', { start: start.passed });
  const adding = harness.manager.add(define('slow'));
  await harness.manager.add(define('fast'));
  await harness.manager.reload('fast');
  await harness.manager.remove('fast');
  expect(harness.takeEvents().filter((event) => event.startsWith('slow'))).toEqual(['slow1 starts']);
  start.release();
  await adding;
  expect(harness.lives()).toEqual(['slow1']);
});

test('if two clients add the same name at once, one gets an error and one server starts', async () => {
  const harness = new ManagerHarness();
  const results = await Promise.allSettled(
    [1, 2, 3].map(() => Promise.resolve().then(() => harness.manager.add(define('a')))),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  for (const result of results.slice(1)) expect(result).toMatchObject({ reason: { code: 'SERVER_EXISTS' } });
  expect(harness.takeEvents()).toEqual(['a1 starts']);
  expect(await refusal(() => harness.manager.add(define('a')))).toBe('SERVER_EXISTS');
});

test('a name that is unknown is refused, with those nearest to it', async () => {
  const harness = await startManager(define('alpha'));
  const attempts: (() => Promise<unknown>)[] = [
    () => harness.manager.remove('alhpa'),
    () => harness.manager.reload('alhpa'),
  ];
  for (const work of attempts) {
    expect(await refusal(work)).toBe('SERVER_UNKNOWN');
    await expect(Promise.resolve().then(work)).rejects.toMatchObject({ hint: 'Did you mean "alpha"?' });
  }
  expect(() => harness.manager.definition('x')).toThrow(/No server named "x"/);
});

test('an add that fails leaves nothing, and nothing of what others did meanwhile is lost', async () => {
  const harness = await startManager(define('old'));
  const start = hold();
  const fails = new Error('it would not start');
  harness.setBehavior('bad', { start: start.passed, fails });
  const adding = refusal(() => harness.manager.add(define('bad')));
  await settled();
  await harness.manager.add(define('new'));
  await harness.manager.remove('old');
  start.release();
  expect(await adding).toBe(fails);
  expect(harness.names()).toEqual(['new']);
  expect(harness.tools()).toEqual(['new__tool']);
  expect(harness.sources.filter(({ alive }) => alive).map(({ life }) => life)).toEqual(['new1']);
  expect(() => harness.manager.definition('bad')).toThrow();
  harness.setBehavior('bad', {});
  await harness.manager.add(define('bad'));
  expect(harness.names()).toEqual(['new', 'bad']);
});

test('an add that fails by a bug of ours leaves nothing, either', async () => {
  const harness = await startManager(define('old'));
  const breaks = new Error('a bug');
  harness.setBehavior('bad', { breaks });
  expect(await refusal(() => harness.manager.add(define('bad')))).toBe(breaks);
  expect(harness.names()).toEqual(['old']);
  harness.setBehavior('bad', {});
  expect(await refusal(() => harness.manager.add(define('bad')))).toBeUndefined();
  expect(harness.names()).toEqual(['old', 'bad']);
});

test('a removed server is listed no more before its end, gets the reason and time, and is gone when that resolves', async () => {
  const harness = await startManager(define('a'), define('b'));
  const stop = hold();
  harness.setBehavior('a', { stop: stop.passed });
  let removed = false;
  const removing = harness.manager.remove('a').then(() => (removed = true));
  await settled();
  expect(harness.names()).toEqual(['b']);
  expect(harness.tools()).toEqual(['b__tool']);
  expect(() => harness.manager.definition('a')).toThrow();
  expect(harness.takeEvents()).toEqual(['a1 stops']);
  expect(removed).toBe(false);
  // The name is free, but the new server waits until the old one has ended.
  const adding = harness.manager.add(define('a'));
  await settled();
  expect(harness.takeEvents()).toEqual([]);
  stop.release();
  await removing;
  await adding;
  expect(harness.takeEvents()).toEqual(['a1 is gone', 'a2 starts']);
  expect(harness.sources[0]!.ending).toEqual({ reason: `Server 'a' was removed.`, drainMs: 1234 });
});

test('a reload starts the same definition beside the old server, which is used until then and ends afterwards', async () => {
  const definition = define('b', { args: ['x'] });
  const harness = await startManager(define('a'), definition, define('c'));
  const start = hold();
  harness.setBehavior('b', { start: start.passed });
  const reloading = harness.manager.reload('b');
  await settled();
  expect(harness.lives()).toEqual(['a1', 'b1', 'c1']);
  expect(harness.tools()).toEqual(['a__tool', 'b__tool', 'c__tool']);
  expect(harness.takeEvents()).toEqual(['b2 starts']);
  start.release();
  const reloaded = await reloading;
  expect(reloaded.definition).toBe(definition);
  expect(reloaded).toMatchObject({ state: { kind: 'running' }, tools: ['b__tool'] });
  expect(harness.lives()).toEqual(['a1', 'b2', 'c1']);
  await settled();
  expect(harness.takeEvents()).toEqual(['b1 stops', 'b1 is gone']);
  expect(harness.sources.at(-1)!.definition).toBe(definition);
  expect(harness.sources.find(({ life }) => life === 'b1')!.ending).toMatchObject({ drainMs: 1234 });
});

test.each([
  ['asked to', {}, { stopFirst: true }],
  ['defined so', { stopFirst: true }, {}],
])('a reload that is %s stops the old server first', async (_when, more, options) => {
  const definition = define('b', more);
  const harness = await startManager(define('a'), definition, define('c'));
  const stop = hold();
  harness.setBehavior('b', { stop: stop.passed });
  const reloading = harness.manager.reload('b', options);
  await settled();
  expect(harness.lives()).toEqual(['a1', 'b2', 'c1']);
  expect(harness.tools()).toEqual(['a__tool', 'c__tool']);
  expect(harness.takeEvents()).toEqual(['b1 stops']);
  stop.release();
  expect(await reloading).toMatchObject({ state: { kind: 'running' }, tools: ['b__tool'] });
  expect(harness.takeEvents()).toEqual(['b1 is gone', 'b2 starts']);
});

test('a reload that fails keeps the old server and says so; the next one may succeed', async () => {
  const harness = await startManager(define('a'), define('b'));
  harness.setBehavior('a', { fails: new Error('it would not start') });
  for (let round = 1; round <= 2; round++) {
    await expect(harness.manager.reload('a')).rejects.toMatchObject({
      code: 'START_FAILED',
      message: "Server 'a' was not reloaded, and its old process keeps running. it would not start",
      hint: expect.stringContaining('"stop_first": true') as string,
    });
    expect(harness.lives()).toEqual(['a1', 'b1']);
    expect(harness.manager.list()[0]).toMatchObject({
      state: { kind: 'running' },
      tools: ['a__tool'],
      problem: { message: expect.stringContaining('it would not start') as string },
    });
  }
  harness.setBehavior('a', {});
  expect(await harness.manager.reload('a')).toMatchObject({ tools: ['a__tool'], problem: undefined });
});

test('one that ends without room for a second process is stopped first', async () => {
  const harness = await startManager(define('a'));
  harness.setBehavior('a', { fails: new SwitchboardError('TOO_MANY_PROCESSES', 'No room.'), failures: 1 });
  expect(await harness.manager.reload('a')).toMatchObject({ state: { kind: 'running' } });
  expect(harness.lives()).toEqual(['a3']);
  expect(harness.takeEvents().slice(-2)).toEqual(['a1 is gone', 'a3 starts']);
});

test('a reload that fails after the old server was stopped keeps the definition and the place; the next one may succeed', async () => {
  const definition = define('a', { env: { SECRET: 'kept' } });
  const harness = await startManager(definition, define('b'));
  const fails = new Error('it would not start');
  harness.setBehavior('a', { fails });
  for (let round = 1; round <= 2; round++) {
    expect(await refusal(() => harness.manager.reload('a', { stopFirst: true }))).toBe(fails);
    expect(harness.names()).toEqual(['a', 'b']);
    expect(harness.manager.definition('a')).toBe(definition);
    expect(harness.manager.list()[0]).toMatchObject({ state: { kind: 'crashed', error: fails }, tools: [] });
  }
  expect(await refusal(() => harness.manager.add(define('a')))).toBe('SERVER_EXISTS');
  harness.setBehavior('a', {});
  expect(await harness.manager.reload('a')).toMatchObject({ tools: ['a__tool'] });
  expect(harness.sources.at(-1)!.definition).toBe(definition);
});

test('a failure does not affect the operations that wait behind it', async () => {
  const harness = new ManagerHarness();
  harness.setBehavior('a', { fails: new Error('no') });
  const first = refusal(() => harness.manager.add(define('a')));
  await settled();
  harness.setBehavior('a', {});
  await first;
  const [reloaded, added] = await Promise.all([
    refusal(() => harness.manager.reload('a')),
    refusal(() => harness.manager.add(define('a'))),
  ]);
  expect([reloaded, added]).toEqual(['SERVER_UNKNOWN', undefined]);
  expect(harness.names()).toEqual(['a']);
});
