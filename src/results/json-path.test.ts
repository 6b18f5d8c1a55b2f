import { expect, test } from 'vitest';
import { Turns } from '../shared/turns.ts';
import { readResultPath, valuesAt } from './json-path.ts';
import { cheapestMs } from '../../test/helpers/cheapest.ts';

const TEXT =
  '{"items":[{"name":"a","n":1.0},{"name":"b","n":9007199254740993},{"n":3}],"a b":{"x":[[1,2],[3]]},"":"empty","it\'s":1,"q\\"":2}';

async function at(path: string, text = TEXT): Promise<string[]> {
  const values: string[] = [];
  for await (const value of valuesAt(text, readResultPath(path).steps, new Turns())) values.push(value);
  return values;
}

test.each([
  ['$', [TEXT]],
  ['$.items[1].n', ['9007199254740993']],
  ['items[0].n', ['1.0']],
  ['.items[-1].n', ['3']],
  ['$.items[*].name', ['"a"', '"b"']],
  ['$.items[1:].n', ['9007199254740993', '3']],
  ['$.items[:-2].name', ['"a"']],
  ['$.items[-2:-1].name', ['"b"']],
  ["$['a b'].x[*][0]", ['1', '3']],
  ['$["a b"].x[0].*', ['1', '2']],
  ['$[""]', ['"empty"']],
  ["$['it\\'s']", ['1']],
  ['$["q\\""]', ['2']],
  ["$['q\"']", ['2']],
  ['$.items.name', []],
  ['$.nowhere[3].x', []],
  ['$.items[99]', []],
  ['$.items[-99]', []],
  ['$.constructor', []],
])('%s', async (path, values) => {
  expect(await at(path)).toEqual(values);
});

test.each([
  '$..name',
  '$.items[?(@.n>1)]',
  '$[',
  '$.',
  '$.a b',
  '$[1,2]',
  '$[0:4:2]',
  'x'.repeat(2000),
  '$[0]'.repeat(40),
])('refuses %s', (path) => {
  expect(() => readResultPath(path)).toThrow('cannot be used');
});

test('a path is read in time whatever it is', () => {
  expect(
    cheapestMs(500, () => {
      expect(() => readResultPath(`$['${'\\'.repeat(900)}`)).toThrow();
      expect(() => readResultPath(`$[${' '.repeat(900)}x`)).toThrow();
    }),
  ).toBeLessThan(500);
});

test('depth costs nothing', async () => {
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"b":1}`;
  expect(await at('$.b', deep)).toEqual(['1']);
});
