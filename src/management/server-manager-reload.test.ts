import { expect, test } from 'vitest';
import type { ConfiguredServer } from '../config/index.ts';
import { define, hold, refusal, startManager, settled } from './server-manager.cases.ts';

test('a reload keeps unchanged servers and re-exposes, restarts, adds or removes the rest, in configuration order', async () => {
  const before = ['same', 'shown', 'process', 'gone'].map((name) => define(name));
  const harness = await startManager(...before);
  await harness.manager.add(define('by-hand'));
  harness.takeEvents();
  const start = hold();
  harness.setBehavior('process', { start: start.passed });
  const next = [
    define('new'),
    define('process', { args: ['--other'] }),
    define('shown', { description: 'other' }),
    define('same'),
  ];
  const applied = await harness.manager.apply(next, []);
  expect(applied).toMatchObject({
    added: ['new'],
    removed: ['gone'],
    restarted: ['process'],
    reshown: ['shown'],
    kept: ['same'],
  });
  await settled();
  // The old process is used until the new one has started.
  expect(harness.lives()).toEqual(['new1', 'process1', 'shown1', 'same1', 'by-hand1']);
  const tools = ['new__tool', 'process__tool', 'shown__tool-other', 'same__tool', 'by-hand__tool'];
  expect(harness.tools()).toEqual(tools);
  expect(harness.takeEvents().sort()).toEqual(
    ['gone1 is gone', 'gone1 stops', 'new1 starts', 'process2 starts'].sort(),
  );
  start.release();
  expect(await applied.failed).toEqual([]);
  await settled();
  expect(harness.takeEvents()).toEqual(['process1 stops', 'process1 is gone']);
  expect(harness.lives()).toEqual(['new1', 'process2', 'shown1', 'same1', 'by-hand1']);
  expect(harness.tools()).toEqual(tools);
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
  'a server shown as %s that is to be stopped first and that two configurations change in a row starts once, when the first one is gone',
  async (exposure) => {
    const versions = ['1', '2', '3'].map((version) => [
      define('a', { exposure, args: [version], stopFirst: true }),
    ]);
    const [first, second, third] = versions as [ConfiguredServer[], ConfiguredServer[], ConfiguredServer[]];
    const harness = await startManager(...first);
    await harness.sources[0]!.start();
    const stop = hold();
    harness.setBehavior('a', { stop: stop.passed });
    harness.takeEvents();
    await harness.manager.apply(second, []);
    await harness.manager.apply(third, []);
    // A client calls it.
    const started = harness.sources.at(-1)!.start();
    await settled();
    expect(harness.takeEvents().filter((event) => event.endsWith('starts'))).toEqual([]);
    stop.release();
    await started;
    expect(harness.takeEvents().filter((event) => event.endsWith('starts'))).toEqual(['a3 starts']);
  },
);

test('a server that runs keeps its definition and its process where the new definition does not start', async () => {
  const before = define('a');
  const harness = await startManager(before, define('b'));
  harness.setBehavior('a', { fails: new Error('no such command') });
  const next = define('a', { args: ['--other'] });
  const { failed } = await harness.manager.apply([define('b'), next], []);
  expect(await failed).toEqual(['a']);
  expect(harness.lives()).toEqual(['b1', 'a1']);
  expect(harness.manager.list()[1]).toMatchObject({
    definition: before,
    tools: ['a__tool'],
    problem: { message: expect.stringContaining('no such command') as string },
  });
  await settled();
  expect(harness.sources.filter(({ alive }) => alive).map(({ life }) => life)).toEqual(['a1', 'b1']);
  // The configuration is reloaded, so it is tried again.
  harness.setBehavior('a', {});
  expect(await (await harness.manager.apply([define('b'), next], [])).failed).toEqual([]);
  expect(harness.lives()).toEqual(['b1', 'a3']);
  expect(harness.manager.list()[1]).toMatchObject({ definition: next, problem: undefined });
});

test('a newer configuration does not wait for a server that starts by an older one', async () => {
  const harness = await startManager(define('a'));
  const start = hold();
  harness.setBehavior('a', { start: start.passed });
  const first = await harness.manager.apply([define('a', { args: ['1'] })], []);
  await settled();
  harness.setBehavior('a', {});
  const applying = harness.manager.apply([define('a', { args: ['2'] }), define('b')], []);
  start.release();
  expect(await first.failed).toEqual(['a']);
  expect(await (await applying).failed).toEqual([]);
  expect(harness.lives()).toEqual(['a3', 'b1']);
});

test('a newer configuration does not wait for a server that still starts as both say', async () => {
  const harness = await startManager(define('a'));
  const start = hold();
  harness.setBehavior('a', { start: start.passed });
  const next = define('a', { args: ['1'] });
  const first = await harness.manager.apply([next], []);
  await settled();
  const second = await harness.manager.apply([define('b'), next], []);
  expect(second).toMatchObject({ added: ['b'], restarted: [], kept: ['a'] });
  expect(harness.lives()).toEqual(['b1', 'a1']);
  start.release();
  expect([await first.failed, await second.failed]).toEqual([[], []]);
  expect(harness.lives()).toEqual(['b1', 'a2']);
  expect(harness.manager.find('a')).toBe(next);
});

test('a definition that is not valid leaves a server as it was, with the reason', async () => {
  const before = define('a');
  const harness = await startManager(before);
  const unusable = { ...before, kind: 'unusable', reason: 'args must be a list', nextStep: 'Correct it.' };
  const applied = await harness.manager.apply([unusable as ConfiguredServer], []);
  expect(applied.kept).toEqual(['a']);
  expect(harness.manager.list()).toMatchObject([
    { definition: before, problem: { message: expect.stringContaining('args must be a list') as string } },
  ]);
  await harness.manager.apply([before], []);
  expect(harness.manager.list()).toMatchObject([{ problem: undefined }]);
});

test('applying a configuration waits for operations on its servers', async () => {
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
