import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../shared/log.ts';
import type { KeptKind } from '../protocol/index.ts';
import type { CatalogEntry } from './catalog.ts';
import { Component, type Listing } from './component.ts';
import { Shelf } from './shelf.ts';
import type { Source } from './source.ts';

// Only timers are replaced: when it asks again is the behaviour.
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

/** A shelf of a running source that gives these, one after the other: a list, or an error. */
function shelfOf(...given: (Listing | Error)[]) {
  const asked: string[] = [];
  const source = {
    name: 's',
    state: { kind: 'running' },
    capabilities: { tools: {}, resources: {}, prompts: {} } as object,
    about: () => ({ capabilities: source.capabilities }),
    remembered: () => undefined,
    start: () => Promise.resolve(),
    list: (kind: KeptKind) => {
      asked.push(kind);
      const next = given.shift() ?? listing('the last');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
  };
  let restocked = 0;
  const entry = {
    source: source as unknown as Source,
    offers: new Set(['tools', 'resources', 'resourceTemplates', 'prompts']),
    exposure: { needsTools: true },
  } as unknown as CatalogEntry;
  const shelf = new Shelf(entry, {
    log: silentLogger,
    restocked: () => restocked++,
    tried: () => undefined,
  });
  const names = (kind: KeptKind) => shelf.listings[kind]?.components.map(({ key }) => key);
  return { shelf, source, asked, names, restocked: () => restocked };
}

test('a list that could not be read again stays as it was, and is asked for until it can be', async () => {
  const { shelf, names, asked } = shelfOf(
    listing('old'),
    new Error('busy'),
    new Error('busy'),
    listing('new'),
  );
  await shelf.refresh('tools').done;
  shelf.changed('tools');
  await vi.advanceTimersByTimeAsync(0);
  expect(names('tools')).toEqual(['old']);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(names('tools')).toEqual(['new']);
  // There is nothing left to ask for.
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(asked).toHaveLength(4);
});

test('one that says so again and again while it fails is not asked more often for that', async () => {
  const { shelf, asked } = shelfOf(listing('old'), ...Array.from({ length: 6 }, () => new Error('busy')));
  await shelf.refresh('tools').done;
  for (let n = 0; n < 5; n++) {
    shelf.changed('tools');
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(asked).toHaveLength(6);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(asked).toHaveLength(8);
});

test('nothing is asked of a source that does not run any more, nor after the end', async () => {
  for (const end of [
    ({ source }: ReturnType<typeof shelfOf>) => (source.state = { kind: 'crashed' }),
    ({ shelf }: ReturnType<typeof shelfOf>) => shelf.close(),
  ]) {
    const made = shelfOf(listing('old'), new Error('busy'));
    await made.shelf.refresh('tools').done;
    made.shelf.changed('tools');
    await vi.advanceTimersByTimeAsync(0);
    end(made);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(made.asked).toHaveLength(2);
  }
});

test('a source that comes back without some kinds has none of them any more', async () => {
  const { shelf, source, asked, names, restocked } = shelfOf(
    listing('tool'),
    listing('x://1'),
    listing('x://{id}'),
    listing('prompt'),
  );
  shelf.restart();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toEqual(['tools', 'resources', 'resourceTemplates', 'prompts']);
  expect(names('prompts')).toEqual(['prompt']);
  const before = restocked();
  source.capabilities = { tools: {} };
  shelf.restart();
  await vi.advanceTimersByTimeAsync(0);
  expect([names('resources'), names('resourceTemplates'), names('prompts')]).toEqual([[], [], []]);
  expect(asked.slice(4)).toEqual(['tools']);
  expect(restocked()).toBeGreaterThan(before);
});

/** A shelf of a source that does not run and is remembered with this list of tools. */
function idleShelf(remembered: Listing | undefined, entry: object = {}) {
  const made = shelfOf(listing('live'));
  made.source.state = { kind: 'idle' };
  Object.assign(made.source, { remembered: (kind: KeptKind) => (kind === 'tools' ? remembered : undefined) });
  Object.assign(made.shelf.entry, entry);
  return made;
}

test('what is remembered is there without asking, until the source is asked', async () => {
  const { shelf, asked, names } = idleShelf({ ...listing('old'), remembered: true });
  expect(names('tools')).toEqual(['old']);
  expect(shelf.awaited('tools')).toBeUndefined();
  expect(asked).toEqual([]);
  await shelf.refresh('tools').done;
  expect(names('tools')).toEqual(['live']);
});

test('a remembered list without tools is not used: the server would never be asked again', () => {
  expect(idleShelf({ ...listing(), remembered: true }).names('tools')).toBeUndefined();
});

test('a source that is there only while it runs has nothing remembered', () => {
  expect(
    idleShelf({ ...listing('old'), remembered: true }, { volatile: true }).names('tools'),
  ).toBeUndefined();
});

test('a source whose tools are not shown is not started for its resources; one that runs is asked', async () => {
  const { shelf, source, asked, names } = idleShelf(undefined, { exposure: { needsTools: false } });
  for (const kind of ['resources', 'resourceTemplates', 'prompts'] as const)
    expect(shelf.awaited(kind)).toBeUndefined();
  expect(asked).toEqual([]);
  source.state = { kind: 'running' };
  await shelf.awaited('resources')!.done;
  expect(names('resources')).toEqual(['live']);
});

test('a list waits for a first try only, not for one that failed and is tried again', async () => {
  const { shelf, source } = shelfOf(new Error('broken'), new Error('broken'));
  source.state = { kind: 'starting' };
  const first = shelf.refresh('tools');
  expect(shelf.awaited('tools')).toBe(first);
  await first.done;
  shelf.refresh('tools');
  expect(shelf.awaited('tools')).toBeUndefined();
});
