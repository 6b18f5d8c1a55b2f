import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../shared/log.ts';
import type { CatalogKind } from '../protocol/index.ts';
import type { CatalogEntry } from './catalog.ts';
import { Component, type Listing } from './component.ts';
import { SourceCache } from './source-cache.ts';
import type { Source } from './source.ts';

// Only timers are faked: when it asks again is the behaviour under test.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const MINUTE = 60_000;

function listing(...names: string[]): Listing {
  const components = names.map((name) => new Component(name, JSON.stringify({ name })));
  return { components, byKey: new Map(components.map((each) => [each.key, each])), incomplete: undefined };
}

/** A cache of a running source that returns these one after another: a list, or an error. */
function cacheOf(...given: (Listing | Error)[]) {
  const asked: string[] = [];
  const source = {
    name: 's',
    state: { kind: 'running' },
    capabilities: { tools: {}, resources: {}, prompts: {} } as object,
    about: () => ({ capabilities: source.capabilities }),
    remembered: () => undefined,
    start: () => Promise.resolve(),
    list: (kind: CatalogKind) => {
      asked.push(kind);
      const next = given.shift() ?? listing('the last');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
  };
  let changes = 0;
  const entry = {
    source: source as unknown as Source,
    offers: new Set(['tools', 'resources', 'resourceTemplates', 'prompts']),
    exposure: { needsTools: true },
  } as unknown as CatalogEntry;
  const cache = new SourceCache(entry, {
    log: silentLogger,
    changed: () => changes++,
    attempted: () => undefined,
  });
  const names = (kind: CatalogKind) => cache.listings[kind]?.components.map(({ key }) => key);
  return { cache, source, asked, names, changes: () => changes };
}

test('a list that could not be read again stays as it was, and is asked for until it can be', async () => {
  const { cache, names, asked } = cacheOf(
    listing('old'),
    new Error('busy'),
    new Error('busy'),
    listing('new'),
  );
  await cache.refresh('tools').done;
  cache.listChanged('tools');
  await vi.advanceTimersByTimeAsync(0);
  expect(names('tools')).toEqual(['old']);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(names('tools')).toEqual(['new']);
  // There is nothing left to fetch.
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(asked).toHaveLength(4);
});

test('one that says so again and again while it fails is not asked more often for that', async () => {
  const { cache, asked } = cacheOf(listing('old'), ...Array.from({ length: 6 }, () => new Error('busy')));
  await cache.refresh('tools').done;
  for (let n = 0; n < 5; n++) {
    cache.listChanged('tools');
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(asked).toHaveLength(6);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(asked).toHaveLength(8);
});

test('nothing is asked of a source that does not run any more, nor after the end', async () => {
  for (const end of [
    ({ source }: ReturnType<typeof cacheOf>) => (source.state = { kind: 'crashed' }),
    ({ cache }: ReturnType<typeof cacheOf>) => cache.close(),
  ]) {
    const made = cacheOf(listing('old'), new Error('busy'));
    await made.cache.refresh('tools').done;
    made.cache.listChanged('tools');
    await vi.advanceTimersByTimeAsync(0);
    end(made);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(made.asked).toHaveLength(2);
  }
});

test('a source that comes back without some kinds has none of them any more', async () => {
  const { cache, source, asked, names, changes } = cacheOf(
    listing('tool'),
    listing('x://1'),
    listing('x://{id}'),
    listing('prompt'),
  );
  cache.restart();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toEqual(['tools', 'resources', 'resourceTemplates', 'prompts']);
  expect(names('prompts')).toEqual(['prompt']);
  const before = changes();
  source.capabilities = { tools: {} };
  cache.restart();
  await vi.advanceTimersByTimeAsync(0);
  expect([names('resources'), names('resourceTemplates'), names('prompts')]).toEqual([[], [], []]);
  expect(asked.slice(4)).toEqual(['tools']);
  expect(changes()).toBeGreaterThan(before);
});

/** A cache of an idle source that is remembered with this list of tools. */
function idleCache(remembered: Listing | undefined, entry: object = {}) {
  const made = cacheOf(listing('live'));
  made.source.state = { kind: 'idle' };
  Object.assign(made.source, {
    remembered: (kind: CatalogKind) => (kind === 'tools' ? remembered : undefined),
  });
  Object.assign(made.cache.entry, entry);
  return made;
}

test('what is remembered is there without asking, until the source is asked', async () => {
  const { cache, asked, names } = idleCache({ ...listing('old'), remembered: true });
  expect(names('tools')).toEqual(['old']);
  expect(cache.pending('tools')).toBeUndefined();
  expect(asked).toEqual([]);
  await cache.refresh('tools').done;
  expect(names('tools')).toEqual(['live']);
});

test('a remembered list without tools is not used: the server would never be asked again', () => {
  expect(idleCache({ ...listing(), remembered: true }).names('tools')).toBeUndefined();
});

test('a source that is there only while it runs has nothing remembered', () => {
  expect(
    idleCache({ ...listing('old'), remembered: true }, { volatile: true }).names('tools'),
  ).toBeUndefined();
});

test('a source whose tools are not shown is not started for its resources; one that runs is asked', async () => {
  const { cache, source, asked, names } = idleCache(undefined, { exposure: { needsTools: false } });
  for (const kind of ['resources', 'resourceTemplates', 'prompts'] as const)
    expect(cache.pending(kind)).toBeUndefined();
  expect(asked).toEqual([]);
  source.state = { kind: 'running' };
  await cache.pending('resources')!.done;
  expect(names('resources')).toEqual(['live']);
});

test('a list waits for a first try only, not for one that failed and is tried again', async () => {
  const { cache, source } = cacheOf(new Error('broken'), new Error('broken'));
  source.state = { kind: 'starting' };
  const first = cache.refresh('tools');
  expect(cache.pending('tools')).toBe(first);
  await first.done;
  cache.refresh('tools');
  expect(cache.pending('tools')).toBeUndefined();
});
