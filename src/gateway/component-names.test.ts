import { describe, expect, test } from 'vitest';
import type { CatalogEntry, Naming } from './catalog.ts';
import { NameReservations } from './name-reservations.ts';
import { Component, type Listing } from './component.ts';
import {
  findTemplate,
  labelWithServer,
  namePrompts,
  nameResources,
  nameTemplates,
  type OwnedTemplate,
} from './component-names.ts';
import { stepsTaken } from './uri-template.ts';

function entry(name: string, naming: Naming = 'plain'): CatalogEntry {
  return { source: { name }, naming } as CatalogEntry;
}

function listing(key: string, ...items: object[]): Listing {
  const components = items.map(
    (item) => new Component((item as Record<string, string>)[key]!, JSON.stringify(item)),
  );
  return { components, byKey: new Map(), incomplete: undefined };
}

test('equal URIs of two servers are distinguished and lead back to their servers', () => {
  const table = nameResources(
    [
      { entry: entry('A'), listing: listing('uri', { uri: 'x://1', name: 'one' }) },
      {
        entry: entry('B b'),
        listing: listing('uri', { uri: 'x://1', name: 'one' }, { uri: 'x://2', name: 'two' }),
      },
    ],
    new NameReservations(),
  );
  expect([...table.keys()]).toEqual(['x://1', 'switchboard://B%20b/x://1', 'x://2']);
  expect(table.get('switchboard://B%20b/x://1')).toMatchObject({ original: 'x://1' });
  expect(JSON.parse(table.get('switchboard://B%20b/x://1')!.text)).toEqual({
    uri: 'switchboard://B%20b/x://1',
    name: '[B b] one',
  });
  expect(JSON.parse(table.get('x://1')!.text)).toEqual({ uri: 'x://1', name: '[A] one' });
});

test('a server that lists what would be the alias of another does not get its place', () => {
  const table = nameResources(
    [
      {
        entry: entry('A'),
        listing: listing('uri', { uri: 'x://1', name: 'a' }, { uri: 'switchboard://B/x://1', name: 'trap' }),
      },
      { entry: entry('B'), listing: listing('uri', { uri: 'x://1', name: 'b' }) },
    ],
    new NameReservations(),
  );
  expect(table.size).toBe(3);
  expect(table.get('switchboard://A/switchboard://B/x://1')?.entry.source.name).toBe('A');
  expect(table.get('switchboard://B/x://1')?.entry.source.name).toBe('B');
});

test('a URI made from a template goes to its server, under the alias too, and to the most specific one', () => {
  const template = (uriTemplate: string) => ({ uriTemplate, name: 't' });
  const templates = nameTemplates(
    [
      { entry: entry('A'), listing: listing('uriTemplate', template('x://{id}'), template('x://list/{id}')) },
      { entry: entry('B'), listing: listing('uriTemplate', template('x://{id}'), template('broken{')) },
    ],
    new NameReservations(),
  );
  const where = (uri: string) => {
    const found = findTemplate(uri, templates.values());
    return found && [found.entry.source.name, found.original];
  };
  expect(where('x://7')).toEqual(['A', 'x://7']);
  expect(where('switchboard://B/x://7')).toEqual(['B', 'x://7']);
  expect(where('x://list/7')).toEqual(['A', 'x://list/7']);
  expect(where('y://7')).toBeUndefined();
});

describe('a thousand hostile templates', () => {
  const hostile = Array.from({ length: 1000 }, (_, n) => ({
    uriTemplate: `${'{+a}'.repeat(30)}~${n}~{+b}`,
    name: 't',
  }));
  const evil = { entry: entry('evil'), listing: listing('uriTemplate', ...hostile) };

  test.each([100, 1000, 8000])('take a bounded number of steps for a URI of %i characters', (length) => {
    let steps = 0;
    /** The same template, with its steps counted. */
    const counted = (owned: OwnedTemplate): OwnedTemplate => ({
      ...owned,
      template: owned.template && {
        ...owned.template,
        matches: (uri) => {
          const matched = owned.template!.matches(uri);
          steps += stepsTaken();
          return matched;
        },
      },
    });
    const templates = [...nameTemplates([evil], new NameReservations()).values()].map(counted);
    expect(findTemplate(`https://example.com/${'x'.repeat(length)}`, templates)).toBeUndefined();
    expect(steps).toBeGreaterThan(length);
    // At most two steps for each of the half a million combinations of part and character.
    expect(steps).toBeLessThanOrEqual(2 * 500_000);
  });

  test('do not keep the template of another server from being found', () => {
    const good = {
      entry: entry('good'),
      listing: listing('uriTemplate', { uriTemplate: 'demo://item/{id}' }),
    };
    const templates = nameTemplates([evil, good], new NameReservations());
    for (const id of ['7', 'a-longer-name-of-an-item']) {
      const found = findTemplate(`demo://item/${id}`, templates.values());
      expect(found?.entry.source.name, id).toBe('good');
    }
  });
});

test('equal prompts of two servers are both there, named by the naming of their server', () => {
  const prompts = listing('name', { name: 'review', description: 'Reviews.' });
  const plain = namePrompts(
    [
      { entry: entry('A'), listing: prompts },
      { entry: entry('B'), listing: listing('name', { name: 'review' }) },
    ],
    new NameReservations(),
  );
  expect([...plain.keys()]).toEqual(['review', 'B__review']);
  expect(JSON.parse(plain.get('review')!.text)).toEqual({ name: 'review', description: '[A] Reviews.' });
  expect(JSON.parse(plain.get('B__review')!.text)).toEqual({ name: 'B__review', description: '[B]' });
  const prefixed = namePrompts([{ entry: entry('A', 'prefixed'), listing: prompts }], new NameReservations());
  expect([...prefixed.values()].map(({ text }) => JSON.parse(text) as object)).toEqual([
    { name: 'A__review', description: 'Reviews.' },
  ]);
});

test('unknown members and number formatting survive a rename', () => {
  const component = new Component(
    'x://1',
    '{"uri":"x://1","name":"n","size":9007199254740993,"x":{"y":1.0}}',
  );
  const table = nameResources(
    [{ entry: entry('A'), listing: { components: [component], byKey: new Map(), incomplete: undefined } }],
    new NameReservations(),
  );
  expect(table.get('x://1')?.text).toBe(
    '{"uri":"x://1","name":"[A] n","size":9007199254740993,"x":{"y":1.0}}',
  );
});

test('a label says who, and what was said where something was', () => {
  expect(labelWithServer('S', 'text')).toBe('[S] text');
  expect(labelWithServer('S', undefined)).toBe('[S]');
  expect(labelWithServer('S', 7)).toBe('[S]');
});
