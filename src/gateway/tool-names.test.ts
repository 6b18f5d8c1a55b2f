import { expect, test } from 'vitest';
import type { PresentedTool } from './exposure.ts';
import { NameReservations } from './name-reservations.ts';
import type { Source } from './source.ts';
import { freeName, nameTools, type ToolGroup } from './tool-names.ts';

const tool = (...names: string[]): PresentedTool => ({
  names,
  definition: (name) => JSON.stringify({ name }),
  run: () => undefined,
});

const part = (source: string | undefined, choosesFirst: boolean, ...tools: PresentedTool[]): ToolGroup => ({
  // Only its name is used here.
  source: source === undefined ? undefined : ({ name: source } as Source),
  tools,
  hasPriority: choosesFirst,
});

const owners = (parts: readonly ToolGroup[]) =>
  [...nameTools(parts, new NameReservations())].map(([name, { source }]) => [name, source]);

test('names chosen by the user or by us are assigned first, at any position', () => {
  const table = owners([
    part('evil', false, tool('github_suite', 'evil__github_suite'), tool('work', 'evil__work')),
    part('github', true, tool('github_suite')),
    part(undefined, true, tool('work'), tool('list_servers')),
    part('evil too', false, tool('list_servers', 'evil_too__list_servers')),
  ]);
  // The list still keeps the order of the parts.
  expect(table).toEqual([
    ['evil__github_suite', 'evil'],
    ['evil__work', 'evil'],
    ['github_suite', 'github'],
    ['work', undefined],
    ['list_servers', undefined],
    ['evil_too__list_servers', 'evil too'],
  ]);
});

test('a server whose every wish is taken gets a number, not the name', () => {
  const table = owners([
    part('evil', false, tool('github_suite')),
    part('evil too', false, tool('github_suite', 'github_suite_2')),
    part('github', true, tool('github_suite')),
  ]);
  expect(table).toEqual([
    ['github_suite_2', 'evil'],
    ['github_suite_2_2', 'evil too'],
    ['github_suite', 'github'],
  ]);
});

test('the first free name is used, and numbers begin at two', () => {
  const taken = new Map([
    ['a', 1],
    ['b', 1],
    ['b-2', 1],
  ]);
  const numbered = (name: string, count: number) => `${name}-${count}`;
  expect(freeName(['a', 'c'], (name) => !taken.has(name), numbered)).toBe('c');
  expect(freeName(['a', 'b'], (name) => !taken.has(name), numbered)).toBe('b-3');
});

test('a name that clients have seen stays with its server as others come and go', () => {
  const reservations = new NameReservations();
  reservations.reserve([['look', 'A']]);
  const b = part('B', false, tool('look', 'B__look'));
  expect([...nameTools([b], reservations).keys()]).toEqual(['B__look']);
  const a = part('A', false, tool('look', 'A__look'));
  expect([...nameTools([b, a], reservations)].map(([name, { source }]) => [name, source])).toEqual([
    ['B__look', 'B'],
    ['look', 'A'],
  ]);
});

test('a plain name that a source got while one before it was not listed is given up when that one has it too', () => {
  const reservations = new NameReservations();
  const b = part('B', false, tool('look', 'B__look'), tool('see', 'B__see'));
  const early = nameTools([{ ...part('A', false), unlisted: true }, b], reservations);
  expect([...early.values()].map(({ name, provisional }) => [name, provisional])).toEqual([
    ['look', true],
    ['see', true],
  ]);
  reservations.reserve([...early.values()].map(({ name, provisional }) => [name, 'B', provisional]));
  const a = part('A', false, tool('look', 'A__look'));
  expect([...nameTools([a, b], reservations).keys()]).toEqual(['A__look', 'B__look', 'see']);
});

test('a thousand tools that want the same name are numbered without counting from the start each time', () => {
  let asked = 0;
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const isFree = (name: string): boolean => {
    asked++;
    return !taken.has(name);
  };
  for (let n = 0; n < 1000; n++)
    taken.add(freeName(['same'], isFree, (name, count) => `${name}_${count}`, counts));
  expect([...taken].slice(0, 3)).toEqual(['same', 'same_2', 'same_3']);
  expect(taken).toContain('same_1000');
  expect(asked).toBeLessThan(3000);
});
