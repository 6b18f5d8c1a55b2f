import { expect, test } from 'vitest';
import type { ConfiguredServer } from '../config/index.ts';
import { define, hold, refusal, startManager, settled } from './server-manager.cases.ts';

test('a reload keeps unchanged servers and re-exposes, restarts, adds or removes the rest, in configuration order', async () => {
  const before = ['same', 'shown', 'process', 'gone'].map((name) => define(name));
  const harness = await startManager(...before);
  await harness.manager.add(define('by-hand'));
  harness.takeEvents();
  const stop = hold();
  harness.setBehavior('process', { stop: stop.passed });
  const next = [
    define('new'),
    define('process', { args: ['--other'] }),
    define('shown', { description: 'other' }),
    define('same'),
  ];
  const applied = await harness.manager.apply(next, []);
  expect(applied).toEqual({
    added: ['new'],
    removed: ['gone'],
    restarted: ['process'],
    reshown: ['shown'],
    kept: ['same'],
  });
  await settled();
  expect(harness.lives()).toEqual(['new1', 'process2', 'shown1', 'same1', 'by-hand1']);
  expect(harness.tools()).toEqual(['new__tool', 'shown__tool-other', 'same__tool', 'by-hand__tool']);
  expect(harness.takeEvents().sort()).toEqual(
    ['gone1 is gone', 'gone1 stops', 'new1 starts', 'process1 stops'].sort(),
  );
  // The new process waits for the old one.
  stop.release();
  await settled();
  expect(harness.takeEvents()).toEqual(['process1 is gone', 'process2 starts']);
  expect(harness.tools()).toContain('process__tool');
  expect(harness.manager.list().map(({ definition }) => definition)).toEqual([
    ...next,
    expect.objectContaining({ name: 'by-hand' }),
  ]);
  const ending = (life: string) => harness.sources.find((each) => each.life === life)!.ending;
  expect(ending('gone1')).toEqual({
    reason: `Server 'gone' was removed from the configuration.`,
    drainMs: 1234,
  });
  expect(ending('process1')?.reason).toBe(`Server 'process' was changed in the configuration.`);
});

test('the same configuration again changes nothing', async () => {
  const before = [define('a'), define('b')];
  const harness = await startManager(...before);
  const applied = await harness.manager.apply([define('a'), define('b')], []);
  expect(applied).toMatchObject({ added: [], removed: [], restarted: [], reshown: [], kept: ['a', 'b'] });
  await settled();
  expect(harness.lives()).toEqual(['a1', 'b1']);
  expect(harness.takeEvents()).toEqual([]);
});

test('a configuration that takes over a server added by hand keeps it, and may take it away later', async () => {
  const harness = await startManager(define('a'));
  await harness.manager.add(define('hand'));
  const both = [define('hand'), define('a')];
  expect(await harness.manager.apply(both, [])).toMatchObject({
    kept: ['hand', 'a'],
  });
  expect(harness.lives()).toEqual(['hand1', 'a1']);
  expect(await harness.manager.apply([define('a')], [])).toMatchObject({
    removed: ['hand'],
  });
  expect(harness.lives()).toEqual(['a1']);
});

test('a configuration that cannot be shown changes nothing, and the next one can', async () => {
  const before = [define('a'), define('b')];
  const harness = await startManager(...before);
  const breaks = new Error('a bug');
  harness.setBehavior('new', { breaks });
  const next = [define('new'), define('b', { args: ['--other'] })];
  expect(await refusal(() => harness.manager.apply(next, []))).toBe(breaks);
  await settled();
  expect(harness.lives()).toEqual(['a1', 'b1']);
  expect(harness.manager.list().map(({ definition }) => definition)).toEqual(before);
  expect(harness.takeEvents()).toEqual([]);
  harness.setBehavior('new', {});
  await harness.manager.apply(next, []);
  await settled();
  expect(harness.names()).toEqual(['new', 'b']);
});

test('a server that one configuration takes out and the next puts back starts when the old one is gone', async () => {
  const before = [define('a')];
  const harness = await startManager(...before);
  const stop = hold();
  harness.setBehavior('a', { stop: stop.passed });
  await harness.manager.apply([], []);
  await harness.manager.apply(before, []);
  await settled();
  expect(harness.takeEvents()).toEqual(['a1 stops']);
  stop.release();
  await settled();
  expect(harness.takeEvents()).toEqual(['a1 is gone', 'a2 starts']);
});

test('a server that is added by hand after a configuration took it out starts when the old one is gone', async () => {
  const before = [define('a')];
  const harness = await startManager(...before);
  const stop = hold();
  harness.setBehavior('a', { stop: stop.passed });
  await harness.manager.apply([], []);
  const adding = harness.manager.add(define('a'));
  await settled();
  expect(harness.takeEvents()).toEqual(['a1 stops']);
  stop.release();
  await adding;
  expect(harness.takeEvents()).toEqual(['a1 is gone', 'a2 starts']);
});

test.each(['flat', 'suite'] as const)(
  'a server shown as %s that two configurations change in a row starts once, when the first one is gone',
  async (exposure) => {
    const versions = ['1', '2', '3'].map((version) => [define('a', { exposure, args: [version] })]);
    const [first, second, third] = versions as [ConfiguredServer[], ConfiguredServer[], ConfiguredServer[]];
    const harness = await startManager(...first);
    await harness.sources[0]!.start();
    const stop = hold();
    harness.setBehavior('a', { stop: stop.passed });
    harness.takeEvents();
    await harness.manager.apply(second, []);
    await harness.manager.apply(third, []);
    // Somebody calls it.
    const started = harness.sources.at(-1)!.start();
    await settled();
    expect(harness.takeEvents().filter((event) => event.endsWith('starts'))).toEqual([]);
    stop.release();
    await started;
    expect(harness.takeEvents().filter((event) => event.endsWith('starts'))).toEqual(['a3 starts']);
  },
);

test('a configuration waits for what is being done to its servers', async () => {
  const before = [define('a'), define('b')];
  const harness = await startManager(...before);
  const start = hold();
  harness.setBehavior('a', { start: start.passed });
  const reloading = harness.manager.reload('a');
  await settled();
  const applying = harness.manager.apply([define('a'), define('c')], []);
  await settled();
  expect(harness.names()).toEqual(['a', 'b']);
  start.release();
  await Promise.all([reloading, applying]);
  await settled();
  expect(harness.lives()).toEqual(['a2', 'c1']);
});

test('a configuration does not wait for a server that is being added by hand, which is there when it has started', async () => {
  const before = [define('a')];
  const harness = await startManager(...before);
  const start = hold();
  harness.setBehavior('x', { start: start.passed });
  const adding = harness.manager.add(define('x'));
  await settled();
  const applying = harness.manager.apply([define('a'), define('c')], []);
  await settled();
  const meanwhile = harness.names();
  start.release();
  await Promise.all([adding, applying]);
  await settled();
  expect(harness.tools()).toEqual(['a__tool', 'c__tool', 'x__tool']);
  expect(meanwhile).toEqual(['a', 'c', 'x']);
});
