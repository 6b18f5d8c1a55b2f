import { expect, test } from 'vitest';
import { didYouMean, nearest } from './nearest.ts';

test('the closest come first, none where nothing is close', () => {
  expect(nearest('reed_file', ['write_file', 'read_file', 'read_files'])).toEqual([
    'read_file',
    'read_files',
  ]);
  expect(nearest('xyz', ['read_file'])).toEqual([]);
  expect(didYouMean('ech', ['echo', 'add'])).toBe('Did you mean "echo"?');
  expect(didYouMean('xyz', ['add_server'])).toBeUndefined();
});

test('a short word needs more of the other than a long one', () => {
  expect(nearest('up', ['op', 'ls', 'u'])).toEqual(['op', 'u']);
  expect(nearest('x', ['y', 'X'])).toEqual(['X']);
  expect(nearest('all', ['add', 'wall', 'call'])).toEqual(['call', 'wall']);
});

test('a text that is too long to be a typo is not compared', () => {
  let looked = 0;
  function* candidates(): Iterable<string> {
    for (let n = 0; n < 1000; n++) {
      looked++;
      yield `a_tool_${n}`;
    }
  }
  expect(nearest('a'.repeat(1_000_000), candidates())).toEqual([]);
  expect(looked).toBe(0);
});

test('very many long candidates are compared as far as it does not take long', () => {
  const word = 'long_name_'.repeat(19);
  const candidates = Array.from(
    { length: 20_000 },
    (_, n) => `${word.slice(0, -8)}${String(n).padStart(8, 'x')}`,
  );
  expect(nearest(`${word}z`, [`${word}y`, ...candidates])[0]).toBe(`${word}y`);
  // A candidate that contains the word is found however many candidates there are.
  expect(nearest(word, [...candidates, `${word}_2`])[0]).toBe(`${word}_2`);
});
