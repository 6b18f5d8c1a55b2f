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

test('what is too long to be a slip is compared with nothing', () => {
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
