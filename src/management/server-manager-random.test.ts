import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfiguredServer } from '../config/index.ts';
import type { TestSource } from './server-manager.cases.ts';
import { define, refusal, settled, ManagerHarness } from './server-manager.cases.ts';

/** A turn of the event loop takes much longer in Wine. */
const RUNS = process.platform === 'win32' ? 50 : 300;

const NAMES = ['a', 'b', 'c', 'd'];
const someName = fc.constantFrom(...NAMES);

/**
 * Operations to start one after the other without awaiting them. Before the next one, this many pending steps continue.
 */
const somePlan = fc.array(
  fc.record({
    what: fc.oneof(
      fc.record({ kind: fc.constantFrom('add', 'remove', 'reload'), name: someName }),
      fc.record({
        kind: fc.constant('apply' as const),
        servers: fc.uniqueArray(fc.record({ name: someName, version: fc.constantFrom('1', '2', '3') }), {
          selector: (each) => each.name,
        }),
      }),
    ),
    goOn: fc.integer({ min: 0, max: 3 }),
    fails: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
  }),
  { maxLength: 25 },
);

/** Carries out all of it, with starts and ends in the scheduler's order, and waits until nothing is pending. */
async function carryOut(
  scheduler: fc.Scheduler,
  plan: typeof somePlan extends fc.Arbitrary<infer Plan> ? Plan : never,
  stopFirst = false,
): Promise<ManagerHarness> {
  const harness = new ManagerHarness();
  const { manager } = harness;
  let configured: ConfiguredServer[] = [];
  const work: Promise<unknown>[] = [];
  for (const { what, goOn, fails } of plan) {
    for (const name of NAMES) {
      harness.setBehavior(name, {
        start: scheduler.schedule(Promise.resolve(), `start of ${name}`),
        stop: scheduler.schedule(Promise.resolve(), `end of ${name}`),
        ...(fails ? { fails: new Error(`${name} would not start`) } : {}),
      });
    }
    work.push(
      refusal(() => {
        if (what.kind === 'apply' && 'servers' in what) {
          configured = what.servers.map(({ name, version }) => define(name, { args: [version], stopFirst }));
          return manager.apply(configured, []).then(({ failed }) => failed);
        }
        const { name } = what as { name: string };
        if (what.kind === 'add') return manager.add(define(name, { stopFirst }));
        return what.kind === 'remove' ? manager.remove(name) : manager.reload(name);
      }),
    );
    for (let n = 0; n < goOn && scheduler.count() > 0; n++) {
      await scheduler.waitNext(1);
      await settled();
    }
  }
  await scheduler.waitIdle();
  // Nothing new can happen now: anything still waiting would wait forever.
  const timeout = new Promise((_, reject) => {
    setTimeout(() => reject(new Error('something waits for ever')), 2000).unref();
  });
  await Promise.race([Promise.all(work), timeout]);
  await settled();
  return harness;
}

test('any operations in any order: all of them settle, and the listed servers are the running ones', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), somePlan, async (scheduler, plan) => {
      const harness = await carryOut(scheduler, plan);
      const listed = harness.gateway.catalog.entries.map(({ source }) => source as TestSource);
      expect(new Set(listed.map((source) => source.name)).size).toBe(listed.length);
      for (const source of listed) expect(source.state.kind).not.toBe('stopped');
      for (const source of harness.sources) {
        if (!listed.includes(source)) expect(source.alive, `${source.life} runs`).toBe(false);
      }
      for (const { definition, state, tools } of harness.manager.list()) {
        expect(harness.manager.definition(definition.name)).toBe(definition);
        if (state.kind === 'running') expect(tools).toEqual([`${definition.name}__tool`]);
      }
      await harness.gateway.close();
    }),
    { numRuns: RUNS },
  );
});

test('whatever is asked for in whatever order: besides a server, at most the one runs that replaces it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), somePlan, async (scheduler, plan) => {
      const harness = await carryOut(scheduler, plan);
      expect(harness.doubles.filter(({ length }) => length > 2)).toEqual([]);
      await harness.gateway.close();
    }),
    { numRuns: RUNS },
  );
});

test('whatever is asked for in whatever order: no server runs twice that is to be stopped first', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), somePlan, async (scheduler, plan) => {
      const harness = await carryOut(scheduler, plan, true);
      expect(harness.doubles).toEqual([]);
      await harness.gateway.close();
    }),
    { numRuns: RUNS },
  );
});
