import { expect, test } from 'vitest';
import { batchArguments } from './batch-line.ts';

const START = '/d /e:ON /v:OFF /s /c "';

test.each([
  ['plain', '"plain"'],
  ['', '""'],
  ['a b', '"a b"'],
  ['a"b', '"a""b"'],
  ['" & calc', '""" & calc"'],
  ['a\\', '"a\\\\"'],
  ['a\\b', '"a\\b"'],
  ['a\\"b', '"a\\\\""b"'],
  ['%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
  ['^&|<>!', '"^&|<>!"'],
])('%j is written as %s', (given, written) => {
  expect(batchArguments('C:\\a b\\c.cmd', [given])).toBe(`${START}"C:\\a b\\c.cmd" ${written}"`);
});

test('the number of quotes is even whatever is given, so that nothing is outside of them', () => {
  for (const given of ['"', '""', '"""', '\\"', '\\\\"', '"\\', 'a"&"b', '%"%']) {
    const line = batchArguments('x.cmd', [given, given]);
    expect((line.match(/"/g) ?? []).length % 2, given).toBe(0);
  }
});
