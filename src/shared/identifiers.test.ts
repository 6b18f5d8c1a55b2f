import { expect, test } from 'vitest';
import { identifiers, serverIdentifiers } from './identifiers.ts';

test('an identifier stays, and everything else becomes one, always the same', () => {
  const names = ['get-sum', 'get_sum', 'a.b/c d', '2nd', 'größe', '日本', '', '-', 'delete', '__proto__'];
  const expected = [
    ['get-sum', 'get_sum_2'],
    ['get_sum', 'get_sum'],
    ['a.b/c d', 'a_b_c_d'],
    ['2nd', '_2nd'],
    ['größe', 'größe'],
    ['日本', '日本'],
    ['', '_'],
    ['-', '__2'],
    ['delete', 'delete'],
    ['__proto__', '__proto__'],
  ];
  const found = identifiers(names);
  expect(names.map((name) => [name, found.get(name)])).toEqual(expected);
});

test('no server takes the name of what a script needs', () => {
  const names = [
    'JSON',
    'Object',
    'console',
    'constructor',
    '__proto__',
    'class',
    'await',
    'undefined',
    'files',
  ];
  expect([...serverIdentifiers(names).values()].sort()).toEqual(
    [...names.slice(0, -1).map((name) => `${name}_`), 'files'].sort(),
  );
});

test('names that would be the same are told apart, however many there are', () => {
  const names = ['a b', 'a-b', 'a_b', 'a.b', 'JSON', 'JSON_'];
  const found = [...serverIdentifiers(names).values()];
  expect(new Set(found).size).toBe(names.length);
  expect(found.every((name) => /^[\w$]+$/.test(name))).toBe(true);
});
