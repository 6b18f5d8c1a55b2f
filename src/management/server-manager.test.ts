import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import {
  defineRuntimeServer,
  loadConfig,
  type ConfiguredServer,
  type Settings,
  type StdioDefinition,
} from '../config/index.ts';
import {
  Component,
  Gateway,
  Session,
  type CatalogEntry,
  type CloseOptions,
  type Exposure,
  type Listing,
  type Source,
  type SourceListener,
  type SourceState,
} from '../gateway/index.ts';
import { silentLogger } from '../shared/log.ts';
import { ServerManager } from './server-manager.ts';

let settings: Settings;
beforeAll(async () => {
  const project = createProject();
  settings = (await loadConfig({ cwd: project.dir, env: {} })).settings;
  await project.remove();
});

/** A definition as a client gives it; `more` is what differs from others of its name. */
function define(name: string, more: Partial<StdioDefinition> = {}): ConfiguredServer {
  const definition = defineRuntimeServer(name, { command: 'program' }, { settings, directory: '/' });
  return { ...definition, exposure: 'flat', ...more };
}

/** Something that is waited for until the test lets it go on. */
interface Hold {
  readonly passed: Promise<void>;
  release(): void;
}

function hold(): Hold {
  let release = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { passed, release };
}

/** How the sources of a name behave that start from now on. */
interface Manner {
  /** Its start waits for this. */
  readonly start?: Promise<void>;
  /** Its start fails with this. */
  readonly fails?: Error;
  /** Its end waits for this. */
  readonly stop?: Promise<void>;
  /** Looking at its tools fails with this: a bug of ours. */
  readonly breaks?: Error;
}

/** A server inside this process: it starts when it is listed, in its own time, and ends in its own time. */
class ToySource implements Source {
  readonly name: string;
  /** The name and which life it is: `a1`. */
  readonly life: string;
  state: SourceState = { kind: 'idle' };
  ending: CloseOptions | undefined;
  readonly definition: ConfiguredServer;
  readonly #world: World;
  readonly #after: Promise<unknown> | undefined;
  #listener: SourceListener | undefined;
  #started: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(definition: ConfiguredServer, life: number, world: World, after: Promise<unknown> | undefined) {
    this.name = definition.name;
    this.life = `${definition.name}${life}`;
    this.definition = definition;
    this.#world = world;
    this.#after = after;
  }

  /** Whether there would be a process. */
  get alive(): boolean {
    return this.#alive;
  }
  #alive = false;

  about(): undefined {
    return undefined;
  }

  async list(kind: string): Promise<Listing> {
    await this.start();
    return kind === 'tools' ? TOOLS : NOTHING;
  }

  start(): Promise<void> {
    return (this.#started ??= this.#start());
  }

  known(): undefined {
    return undefined;
  }

  remembered(): undefined {
    return undefined;
  }

  request(): void {
    throw new Error('called nothing');
  }

  ask(): Promise<never> {
    return Promise.reject(new Error('asked nothing'));
  }

  notify(): void {
    // Nobody listens.
  }

  listen(listener: SourceListener): void {
    this.#listener = listener;
  }

  setIdleTimeout(): void {
    // Never idle.
  }

  fail(): Promise<void> {
    return Promise.resolve();
  }

  close(ending?: CloseOptions): Promise<void> {
    this.ending ??= ending;
    return (this.#closing ??= this.#close());
  }

  async #start(): Promise<void> {
    await this.#after;
    if (this.state.kind === 'stopped') throw new Error(`${this.life} was stopped`);
    const { start, fails } = this.#world.manner(this.name);
    this.#note('starts');
    for (const other of this.#world.sources) {
      if (other.name === this.name && other.alive) this.#world.doubles.push(`${other.life} and ${this.life}`);
    }
    this.#alive = true;
    this.state = { kind: 'starting', attempt: 1 };
    await start;
    if ((this.state as SourceState).kind === 'stopped') throw new Error(`${this.life} was stopped`);
    if (fails) {
      this.#alive = false;
      this.state = { kind: 'crashed', error: fails, at: 0 };
      throw fails;
    }
    this.state = { kind: 'running', pid: 1, since: 0 };
    this.#listener?.started();
  }

  async #close(): Promise<void> {
    this.#note('stops');
    this.state = { kind: 'stopped' };
    // As the real one: a start that is under way, or waits to be, comes to its end first.
    await this.#started?.catch(() => undefined);
    if (!this.#alive) return;
    await this.#world.manner(this.name).stop;
    this.#alive = false;
    this.#note('is gone');
    this.#listener?.stopped();
  }

  #note(what: string): void {
    this.#world.events.push(`${this.life} ${what}`);
  }
}

function listing(names: readonly string[]): Listing {
  const components = names.map((name) => new Component(name, JSON.stringify({ name, inputSchema: {} })));
  return { components, byKey: new Map(components.map((each) => [each.key, each])), incomplete: undefined };
}

const TOOLS = listing(['tool']);
const NOTHING = listing([]);

/** A gateway with one client, the control over it, and everything its sources did. */
class World {
  readonly events: string[] = [];
  readonly sources: ToySource[] = [];
  /** Servers of one name that ran at the same time. */
  readonly doubles: string[] = [];
  readonly gateway: Gateway;
  readonly manager: ServerManager;
  readonly #manners = new Map<string, Manner>();

  constructor(...definitions: ConfiguredServer[]) {
    const build = (definition: ConfiguredServer, after?: Promise<unknown>): CatalogEntry =>
      this.#build(definition, after);
    this.gateway = new Gateway({ entries: definitions.map((each) => build(each)) });
    this.manager = new ServerManager({
      gateway: this.gateway,
      log: silentLogger,
      build,
      withPresentation: (definition, source) => ({ ...build(definition), source }),
      definitions,
      drainMs: 1234,
    });
    this.gateway.join(quietSession());
  }

  manner(name: string): Manner {
    return this.#manners.get(name) ?? {};
  }

  behave(name: string, manner: Manner): void {
    this.#manners.set(name, manner);
  }

  /** The names in the catalog, in order. */
  names(): string[] {
    return this.manager.list().map(({ definition }) => definition.name);
  }

  /** The lives in the catalog, in order. */
  lives(): string[] {
    return this.gateway.catalog.entries.map(({ source }) => (source as ToySource).life);
  }

  tools(): string[] {
    return this.gateway.tools.map((tool) => tool.name);
  }

  /** Everything that was done since this was asked last. */
  news(): string[] {
    return this.events.splice(0);
  }

  #build(definition: ConfiguredServer, after: Promise<unknown> | undefined): CatalogEntry {
    const life = this.sources.filter(({ name }) => name === definition.name).length + 1;
    const source = new ToySource(definition, life, this, after);
    this.sources.push(source);
    return {
      source,
      rules: { allows: () => true, overrides: new Map() },
      offers: new Set(['tools']),
      naming: 'prefixed',
      exposure: this.#exposure(definition),
    };
  }

  #exposure({ name, description, exposure }: ConfiguredServer): Exposure {
    return {
      // One that is shown as a suite sleeps until it is called.
      needsTools: exposure === 'flat',
      present: (_entry, filtered) => {
        const { breaks } = this.manner(name);
        if (breaks) throw breaks;
        return (filtered?.tools ?? []).map((tool) => ({
          names: [`${name}__${tool.name}${description === undefined ? '' : `-${description}`}`],
          definition: (shown) => JSON.stringify({ name: shown }),
          run: (call) => call.succeed({}),
        }));
      },
    };
  }
}

function quietSession(): Session {
  return new Session({
    congested: false,
    capabilities: {},
    whenDrained: () => undefined,
    forwardAnswer: () => undefined,
    forwardNotification: () => undefined,
    answer: () => undefined,
    answerText: () => undefined,
    fail: () => undefined,
    notify: () => undefined,
    ask: () => 0,
    withdraw: () => undefined,
  });
}

/** Everything that can happen without anybody letting go of something has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The code of the error that something rejects with, or throws. */
async function refusal(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
  return undefined;
}

/** Servers that run already. */
async function running(...definitions: ConfiguredServer[]): Promise<World> {
  const world = new World(...definitions);
  await settled();
  world.news();
  return world;
}

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

test('a configuration read again: what is the same stays, the rest is shown anew, restarted, added or removed, in its order', async () => {
  const before = ['same', 'shown', 'process', 'gone'].map((name) => define(name));
  const world = await running(...before);
  await world.manager.add(define('by-hand'));
  world.news();
  const stop = hold();
  world.behave('process', { stop: stop.passed });
  const next = [
    define('new'),
    define('process', { args: ['--other'] }),
    define('shown', { description: 'other' }),
    define('same'),
  ];
  const applied = await world.manager.apply(next, []);
  expect(applied).toEqual({
    added: ['new'],
    removed: ['gone'],
    restarted: ['process'],
    reshown: ['shown'],
    kept: ['same'],
  });
  await settled();
  expect(world.lives()).toEqual(['new1', 'process2', 'shown1', 'same1', 'by-hand1']);
  expect(world.tools()).toEqual(['new__tool', 'shown__tool-other', 'same__tool', 'by-hand__tool']);
  expect(world.news().sort()).toEqual(
    ['gone1 is gone', 'gone1 stops', 'new1 starts', 'process1 stops'].sort(),
  );
  // The new process waits for the old one.
  stop.release();
  await settled();
  expect(world.news()).toEqual(['process1 is gone', 'process2 starts']);
  expect(world.tools()).toContain('process__tool');
  expect(world.manager.list().map(({ definition }) => definition)).toEqual([
    ...next,
    expect.objectContaining({ name: 'by-hand' }),
  ]);
  const ending = (life: string) => world.sources.find((each) => each.life === life)!.ending;
  expect(ending('gone1')).toEqual({
    reason: `Server 'gone' was removed from the configuration.`,
    drainMs: 1234,
  });
  expect(ending('process1')?.reason).toBe(`Server 'process' was changed in the configuration.`);
});

test('the same configuration again changes nothing', async () => {
  const before = [define('a'), define('b')];
  const world = await running(...before);
  const applied = await world.manager.apply([define('a'), define('b')], []);
  expect(applied).toMatchObject({ added: [], removed: [], restarted: [], reshown: [], kept: ['a', 'b'] });
  await settled();
  expect(world.lives()).toEqual(['a1', 'b1']);
  expect(world.news()).toEqual([]);
});

test('a configuration that takes over a server added by hand keeps it, and may take it away later', async () => {
  const world = await running(define('a'));
  await world.manager.add(define('hand'));
  const both = [define('hand'), define('a')];
  expect(await world.manager.apply(both, [])).toMatchObject({
    kept: ['hand', 'a'],
  });
  expect(world.lives()).toEqual(['hand1', 'a1']);
  expect(await world.manager.apply([define('a')], [])).toMatchObject({
    removed: ['hand'],
  });
  expect(world.lives()).toEqual(['a1']);
});

test('a configuration that cannot be shown changes nothing, and the next one can', async () => {
  const before = [define('a'), define('b')];
  const world = await running(...before);
  const breaks = new Error('a bug');
  world.behave('new', { breaks });
  const next = [define('new'), define('b', { args: ['--other'] })];
  expect(await refusal(() => world.manager.apply(next, []))).toBe(breaks);
  await settled();
  expect(world.lives()).toEqual(['a1', 'b1']);
  expect(world.manager.list().map(({ definition }) => definition)).toEqual(before);
  expect(world.news()).toEqual([]);
  world.behave('new', {});
  await world.manager.apply(next, []);
  await settled();
  expect(world.names()).toEqual(['new', 'b']);
});

test('a server that one configuration takes out and the next puts back starts when the old one is gone', async () => {
  const before = [define('a')];
  const world = await running(...before);
  const stop = hold();
  world.behave('a', { stop: stop.passed });
  await world.manager.apply([], []);
  await world.manager.apply(before, []);
  await settled();
  expect(world.news()).toEqual(['a1 stops']);
  stop.release();
  await settled();
  expect(world.news()).toEqual(['a1 is gone', 'a2 starts']);
});

test('a server that is added by hand after a configuration took it out starts when the old one is gone', async () => {
  const before = [define('a')];
  const world = await running(...before);
  const stop = hold();
  world.behave('a', { stop: stop.passed });
  await world.manager.apply([], []);
  const adding = world.manager.add(define('a'));
  await settled();
  expect(world.news()).toEqual(['a1 stops']);
  stop.release();
  await adding;
  expect(world.news()).toEqual(['a1 is gone', 'a2 starts']);
});

test.each(['flat', 'suite'] as const)(
  'a server shown as %s that two configurations change in a row starts once, when the first one is gone',
  async (exposure) => {
    const versions = ['1', '2', '3'].map((version) => [define('a', { exposure, args: [version] })]);
    const [first, second, third] = versions as [ConfiguredServer[], ConfiguredServer[], ConfiguredServer[]];
    const world = await running(...first);
    await world.sources[0]!.start();
    const stop = hold();
    world.behave('a', { stop: stop.passed });
    world.news();
    await world.manager.apply(second, []);
    await world.manager.apply(third, []);
    // Somebody calls it.
    const started = world.sources.at(-1)!.start();
    await settled();
    expect(world.news().filter((event) => event.endsWith('starts'))).toEqual([]);
    stop.release();
    await started;
    expect(world.news().filter((event) => event.endsWith('starts'))).toEqual(['a3 starts']);
  },
);

test('a configuration waits for what is being done to its servers', async () => {
  const before = [define('a'), define('b')];
  const world = await running(...before);
  const start = hold();
  world.behave('a', { start: start.passed });
  const reloading = world.manager.reload('a');
  await settled();
  const applying = world.manager.apply([define('a'), define('c')], []);
  await settled();
  expect(world.names()).toEqual(['a', 'b']);
  start.release();
  await Promise.all([reloading, applying]);
  await settled();
  expect(world.lives()).toEqual(['a2', 'c1']);
});

test('a configuration does not wait for a server that is being added by hand, which is there when it has started', async () => {
  const before = [define('a')];
  const world = await running(...before);
  const start = hold();
  world.behave('x', { start: start.passed });
  const adding = world.manager.add(define('x'));
  await settled();
  const applying = world.manager.apply([define('a'), define('c')], []);
  await settled();
  const meanwhile = world.names();
  start.release();
  await Promise.all([adding, applying]);
  await settled();
  expect(world.tools()).toEqual(['a__tool', 'c__tool', 'x__tool']);
  expect(meanwhile).toEqual(['a', 'c', 'x']);
});

const NAMES = ['a', 'b', 'c', 'd'];
const someName = fc.constantFrom(...NAMES);

/** Things to do one after the other, without waiting for them; before the next one, so many of those under way go on. */
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

/** Does all of it, with starts and ends in the order of the scheduler, and waits until nothing is under way. */
async function carryOut(
  scheduler: fc.Scheduler,
  plan: typeof somePlan extends fc.Arbitrary<infer Plan> ? Plan : never,
): Promise<World> {
  const world = new World();
  const { manager } = world;
  let configured: ConfiguredServer[] = [];
  const work: Promise<unknown>[] = [];
  for (const { what, goOn, fails } of plan) {
    for (const name of NAMES) {
      world.behave(name, {
        start: scheduler.schedule(Promise.resolve(), `start of ${name}`),
        stop: scheduler.schedule(Promise.resolve(), `end of ${name}`),
        ...(fails ? { fails: new Error(`${name} would not start`) } : {}),
      });
    }
    work.push(
      refusal(() => {
        if (what.kind === 'apply' && 'servers' in what) {
          configured = what.servers.map(({ name, version }) => define(name, { args: [version] }));
          return manager.apply(configured, []);
        }
        const { name } = what as { name: string };
        if (what.kind === 'add') return manager.add(define(name));
        return what.kind === 'remove' ? manager.remove(name) : manager.reload(name);
      }),
    );
    for (let n = 0; n < goOn && scheduler.count() > 0; n++) {
      await scheduler.waitNext(1);
      await settled();
    }
  }
  await scheduler.waitIdle();
  // Nothing new comes now: who still waits would wait for ever.
  const timeout = new Promise((_, reject) => {
    setTimeout(() => reject(new Error('something waits for ever')), 2000).unref();
  });
  await Promise.race([Promise.all(work), timeout]);
  await settled();
  return world;
}

test('whatever is asked for in whatever order: everything comes to an end, and what is listed is what runs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), somePlan, async (scheduler, plan) => {
      const world = await carryOut(scheduler, plan);
      const listed = world.gateway.catalog.entries.map(({ source }) => source as ToySource);
      expect(new Set(listed.map((source) => source.name)).size).toBe(listed.length);
      for (const source of listed) expect(source.state.kind).not.toBe('stopped');
      for (const source of world.sources) {
        if (!listed.includes(source)) expect(source.alive, `${source.life} runs`).toBe(false);
      }
      for (const { definition, state, tools } of world.manager.list()) {
        expect(world.manager.definition(definition.name)).toBe(definition);
        if (state.kind === 'running') expect(tools).toEqual([`${definition.name}__tool`]);
      }
      await world.gateway.close();
    }),
    { numRuns: 300 },
  );
});

test('whatever is asked for in whatever order: no server runs twice at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), somePlan, async (scheduler, plan) => {
      const world = await carryOut(scheduler, plan);
      expect(world.doubles).toEqual([]);
      await world.gateway.close();
    }),
    { numRuns: 300 },
  );
});
